"use strict";
/* Drop a file, follow a task, mark rows without loading the page anew. Without this script forms and links do the same. */
(() => {
  const watchDrop = (form) => {
    const input = form.querySelector("input[type=file]");
    const tooLarge = form.querySelector("[data-too-large]");
    const fits = () => {
      const file = input.files[0];
      const fine = !file || file.size <= Number(form.dataset.most);
      tooLarge.hidden = fine;
      return fine;
    };
    const over = (event) => {
      event.preventDefault();
      form.classList.toggle("over", event.type === "dragover");
    };
    form.addEventListener("dragover", over);
    form.addEventListener("dragleave", over);
    form.addEventListener("drop", (event) => {
      over(event);
      if (!event.dataTransfer.files.length) return;
      input.files = event.dataTransfer.files;
      if (fits()) form.requestSubmit();
    });
    input.addEventListener("change", fits);
    form.addEventListener("submit", (event) => {
      if (!fits()) event.preventDefault();
      else form.querySelector("button").textContent = "Reading it …";
    });
  };

  const words = { warning: "! Warning", note: "i Note" };
  const showMessages = (place, messages) => {
    const list = document.createElement("ul");
    list.className = "findings";
    for (const each of messages) {
      const item = document.createElement("li");
      item.className = `finding ${each.level}`;
      const badge = document.createElement("span");
      badge.className = `badge ${each.level}`;
      badge.textContent = words[each.level] || each.level;
      const text = document.createElement("p");
      text.textContent = each.message;
      item.append(badge, text);
      list.append(item);
    }
    place.replaceChildren(list);
  };

  const follow = (box) => {
    const bar = box.querySelector("progress");
    const doing = box.querySelector("[data-doing]");
    const note = box.querySelector("[data-note]");
    const place = document.querySelector("[data-messages]");
    let shown = place.querySelectorAll("li").length;
    const look = async () => {
      let found;
      try {
        const answer = await fetch(box.dataset.progress, { headers: { Accept: "application/json" } });
        if (answer.status === 403 || answer.status === 404) return location.reload();
        found = await answer.json();
      } catch {
        note.textContent = "The studio does not answer. If it was stopped, start it again, and open the address that it prints.";
        return setTimeout(look, 3000);
      }
      if (found.state !== "running") return location.reload();
      if (doing.textContent !== found.title) doing.textContent = found.title;
      if (found.total) {
        bar.max = found.total;
        bar.value = found.done;
      } else bar.removeAttribute("value");
      note.textContent = found.total ? `${found.done} of ${found.total} ${found.note}` : "\u00a0";
      if (found.messages.length !== shown) showMessages(place, found.messages);
      shown = found.messages.length;
      return setTimeout(look, 500);
    };
    setTimeout(look, 300);
  };

  const plural = (count, noun) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
  const write = (selector, text) => {
    for (const each of document.querySelectorAll(selector)) each.textContent = text;
  };
  const counted = (found) => {
    write("[data-checked]", `${plural(found.checked, "row")} checked`);
    write("[data-positive]", found.positive);
    write("[data-negative]", found.negative);
    for (const each of document.querySelectorAll("[data-needs-marks]")) each.disabled = !found.can_be_added;
    const open = [...document.querySelectorAll("form[data-mark]")].filter((form) => !form.querySelector("[aria-pressed=true]"));
    write("[data-open]", open.length);
    for (const each of document.querySelectorAll("[data-needs-all]")) each.disabled = open.length > 0;
  };
  const watchMark = (form) => {
    const said = form.querySelector(".said");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const fields = new URLSearchParams(new FormData(form, event.submitter));
      said.classList.remove("wrong");
      try {
        const answer = await fetch(form.action, {
          method: "POST",
          body: fields,
          headers: { Accept: "application/json" },
        });
        const found = await answer.json();
        if (!answer.ok) throw new Error(found.error);
        for (const button of form.querySelectorAll("button[aria-pressed]")) {
          button.setAttribute("aria-pressed", String(button.value === found.answer));
        }
        form.querySelector("[value=clear]").hidden = !found.answer;
        if (!found.answer && form.elements.confidence) form.elements.confidence.value = "";
        said.textContent = found.answer ? "kept" : "taken back";
        counted(found);
      } catch (error) {
        said.classList.add("wrong");
        said.textContent = error instanceof TypeError ? "The studio does not answer; nothing was kept." : error.message;
      }
    });
  };

  document.querySelectorAll("[data-drop]").forEach(watchDrop);
  document.querySelectorAll("[data-progress]").forEach(follow);
  document.querySelectorAll("form[data-mark]").forEach(watchMark);
})();
