// What the theme leaves out: levels of the sidebar's headings, names of thumbnails' links, keys for
// boxes that scroll, a way to the full size of pictures, and on a phone wide tables as cards, each
// cell beside its heading.
function letKeysScroll() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, div.math")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll(".caption[role=heading]")) {
    caption.setAttribute("aria-level", "2");
  }
  for (const card of document.querySelectorAll(".sphx-glr-thumbcontainer")) {
    const title = card.querySelector(".sphx-glr-thumbnail-title");
    for (const link of card.querySelectorAll("a")) {
      link.setAttribute("aria-label", title ? title.textContent.trim() : link.textContent.trim());
    }
  }
  letKeysScroll();
  window.addEventListener("resize", letKeysScroll);
  for (const image of document.querySelectorAll("article p > img")) {
    const link = document.createElement("a");
    link.href = image.src;
    image.replaceWith(link);
    link.append(image);
  }
  for (const table of document.querySelectorAll("table.docutils")) {
    const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
    if (names.length < 6) continue;
    table.classList.add("wide");
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.cells].forEach((cell, place) => {
        cell.dataset.name = names[place] || "";
        cell.classList.toggle("blank", !cell.textContent.trim());
      });
    }
  }
});
