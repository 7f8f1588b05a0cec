// The versions of the site in the sidebar. A site that was built alone has no list, and no menu.
document.addEventListener("DOMContentLoaded", async () => {
  const root = document.documentElement.dataset.content_root || "./";
  const place = document.querySelector(".sidebar-brand");
  const answer = await fetch(`${root}../versions.json`).catch(() => null);
  if (!place || !answer || !answer.ok) return;
  const here = new URL(root, location.href).pathname.split("/").filter(Boolean).pop();
  const menu = document.createElement("select");
  menu.setAttribute("aria-label", "Version of the documentation");
  for (const name of await answer.json()) {
    menu.add(new Option(name === "dev" ? "development" : name, name, false, name === here));
  }
  menu.addEventListener("change", () => { location.href = `${root}../${menu.value}/index.html`; });
  place.after(menu);
});
