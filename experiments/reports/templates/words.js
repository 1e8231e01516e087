// The difference of two texts, word by word.

function words(content) {
  if (typeof Intl !== "undefined" && Intl.Segmenter) {
    return Array.from(new Intl.Segmenter("en", { granularity: "word" }).segment(content), (s) => s.segment);
  }
  return content.match(/\s+|[\p{L}\p{M}\p{N}_'’]+|./gsu) || [];
}

// An edit script as [kind, text] with kind "", "del" or "ins"; by longest common subsequence.
function wordDiff(before, after) {
  const [a, b] = [words(before), words(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const parts = [];
  const add = (kind, part) => {
    const last = parts[parts.length - 1];
    if (last && last[0] === kind) last[1] += part; else parts.push([kind, part]);
  };
  a.slice(0, head).forEach((w) => add("", w));
  if (x.length * y.length > 9e6) {
    add("del", x.join("")); add("ins", y.join(""));
  } else {
    const width = y.length + 1;
    const best = new Uint16Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; i -= 1) {
      for (let j = y.length - 1; j >= 0; j -= 1) {
        best[i * width + j] = x[i] === y[j] ? best[(i + 1) * width + j + 1] + 1
          : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
      }
    }
    let [i, j] = [0, 0];
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) { add("", x[i]); i += 1; j += 1; }
      else if (j >= y.length || (i < x.length && best[(i + 1) * width + j] >= best[i * width + j + 1])) { add("del", x[i]); i += 1; }
      else { add("ins", y[j]); j += 1; }
    }
  }
  a.slice(a.length - tail).forEach((w) => add("", w));
  return parts;
}
