// Recordings of a terminal get a button that pauses them and a bar to move in them. Without scripts they only play.
document.addEventListener("DOMContentLoaded", () => {
  for (const picture of document.querySelectorAll('img[src$="/demo.svg"]')) {
    const recording = document.createElement("object");
    recording.className = "recording";
    recording.type = "image/svg+xml";
    recording.setAttribute("aria-label", picture.alt);
    recording.addEventListener("load", () => addControls(recording));
    recording.data = picture.src;
    picture.replaceWith(recording);
  }
});

function addControls(recording) {
  const animations = recording.contentDocument.getAnimations();
  // Readers who prefer no motion see the end.
  if (!animations.length) return;
  const end = Math.max(...animations.map((animation) => animation.effect.getComputedTiming().endTime));
  const button = document.createElement("button");
  const bar = document.createElement("input");
  Object.assign(bar, { type: "range", min: 0, max: end, step: "any", value: 0 });
  bar.setAttribute("aria-label", "Position in the recording");
  let playing = true;
  let last = null;

  // Animation.play() would begin anew with each line that is shown already, so the time is set instead.
  function seek(time) {
    bar.value = time;
    for (const animation of animations) animation.currentTime = time;
  }
  function play(now) {
    if (!playing) return;
    seek(Math.min(end, Number(bar.value) + (last === null ? 0 : now - last)));
    last = now;
    if (Number(bar.value) >= end) pause();
    else requestAnimationFrame(play);
  }
  function pause() {
    playing = false;
    button.textContent = "▶ Play";
  }
  function start() {
    playing = true;
    last = null;
    button.textContent = "❚❚ Pause";
    requestAnimationFrame(play);
  }
  button.addEventListener("click", () => {
    if (playing) return pause();
    if (Number(bar.value) >= end) seek(0);
    start();
  });
  bar.addEventListener("input", () => {
    pause();
    seek(Number(bar.value));
  });
  for (const animation of animations) animation.pause();
  const controls = document.createElement("div");
  controls.className = "recording-controls";
  controls.append(button, bar);
  recording.after(controls);
  start();
}
