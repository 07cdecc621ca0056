/** Tables as kubectl prints them: cells aligned below the titles, three spaces apart. */

/** Returns the lines of a table. Cells must not contain colours; `paint` adds them after the widths are computed. */
export function table(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  paint: (cell: string, row: number, column: number) => string = (cell) => cell,
): string[] {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[], row: number): string => {
    const last = cells.findLastIndex((cell) => cell !== '')
    return cells
      .slice(0, last + 1)
      .map(
        (cell, column) =>
          paint(cell, row, column) + (column === last ? '' : ' '.repeat(widths[column]! - cell.length + 3)),
      )
      .join('')
  }
  return [line(titles, -1), ...rows.map(line)]
}
