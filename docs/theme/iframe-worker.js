// The search of the site, opened from a folder: browsers start no worker from a file, so a frame
// without a display runs the worker's script. It takes the place of npm's iframe-worker, which the
// theme would load from another server.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve) => {
        window.addEventListener("message", (event) => {
          if (event.source !== frame.contentWindow) return;
          if (event.data === "worker is ready") resolve(frame.contentWindow);
          else this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        });
      });
      const address = JSON.stringify(new URL(url, document.baseURI).href).replace(/</g, "\\u003c");
      frame.srcdoc = `<script>
        window.postMessage = (data) => parent.postMessage(data, "*");
        window.importScripts = (...urls) => Promise.all(urls.map(load));
        function load(url) {
          return new Promise((resolve, reject) => {
            const script = document.createElement("script");
            Object.assign(script, { src: url, onload: resolve, onerror: reject });
            document.head.append(script);
          });
        }
        load(${address}).then(() => postMessage("worker is ready"));
      <\/script>`;
      document.documentElement.append(frame);
    }

    postMessage(data) {
      this.ready.then((view) => view.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
