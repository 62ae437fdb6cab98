"""Runs programs of examples/ as users do, and keeps what they print and draw, for the gallery.

    python docs/gallery/record.py fit_digits hidden_markov

Without names all of them run. Pictures are scaled to at most 800 pixels and 128 colours: tens of kilobytes each.
"""

import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).parent / "recorded"


def record(name):
    """Run one program."""
    picture = RECORDED / f"{name}.png"
    command = [sys.executable, f"examples/{name}.py", "--plot", str(picture)]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = [line for line in output.splitlines() if str(picture) not in line]
    (RECORDED / f"{name}.txt").write_text("\n".join(lines) + "\n")
    image = Image.open(picture).convert("RGB")
    image.thumbnail((800, 800))
    image.quantize(128, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    RECORDED.mkdir(exist_ok=True)
    for program in sys.argv[1:] or sorted(path.stem for path in (ROOT / "examples").glob("*.py")):
        print(program)
        record(program)
