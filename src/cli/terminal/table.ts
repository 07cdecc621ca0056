/** Rows in columns, as kubectl shows them: what is in a column begins below its title, three spaces apart. */

/**
 * The lines of a table. Cells must be free of colours; `paint` may add some to a line's cell when all widths are known.
 */
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
