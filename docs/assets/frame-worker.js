// A page that is opened from disk may not start a web worker, which the search needs: run its script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = this.onerror = null
      const frame = (this.frame = document.createElement("iframe"))
      frame.hidden = true
      document.body.appendChild(frame)
      const inside = (this.inside = frame.contentWindow)
      inside.document.open()
      inside.document.write(`<script>
        window.postMessage = data => parent.postMessage(data, "*")
        window.importScripts = (...urls) => urls.forEach(url => document.write('<script src="' + url + '"><\\/script>'))
      </script><script src="${url}"></script>`)
      inside.document.close()
      this.ready = new Promise(resolve => (inside.onload = resolve))
      this.receive = event => {
        if (event.source !== inside) return
        const message = new MessageEvent("message", { data: event.data })
        this.dispatchEvent(message)
        if (this.onmessage) this.onmessage(message)
      }
      addEventListener("message", this.receive)
    }

    postMessage(data) {
      const copy = structuredClone(data)
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data: copy })))
    }

    terminate() {
      removeEventListener("message", this.receive)
      this.frame.remove()
    }
  }
}
