"""Labels by people: what they are asked, what follows from their answers, and how files hold both."""
