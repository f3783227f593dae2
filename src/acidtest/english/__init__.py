"""What acidtest knows of the English language, whatever it is used for."""
