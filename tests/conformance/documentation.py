"""The pages that show the table: what is written between its two marks is replaced, the rest is kept."""

from pathlib import Path

from table import footnotes, markdown

BEGIN, END = "<!-- table -->", "<!-- /table -->"

ROOT = Path(__file__).resolve().parents[2]


def write(cases, columns):
    """Puts a new table into each page, and gives their paths."""
    table = markdown(cases, columns)
    pages = {ROOT / "docs" / "conformance.md": table + footnotes(cases, columns)}
    for page, content in pages.items():
        before, rest = page.read_text().split(BEGIN, 1)
        _, after = rest.split(END, 1)
        page.write_text(f"{before}{BEGIN}\n{content}{END}{after}")
    return list(pages)
