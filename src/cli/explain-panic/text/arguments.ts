/** Formats the arguments of a call for a terminal: a line for each word, with its meaning. */
import type { CrashReport } from '../../../tools/panics/report.ts'
import type { Colours } from './colours.ts'

type Call = CrashReport['arguments'][number]

export function argumentsText(
  { function: name, convention, values, notes }: Call,
  { strong, faint }: Colours,
): string[] {
  const rows = values.flatMap(({ role, name: called, type, parts }) =>
    parts.map(({ label, word, meaning }, index) => [
      index > 0 ? '' : role === 'argument' ? called || '(no name)' : called ? `${called} (${role})` : `(${role})`,
      index > 0 ? '' : type,
      label,
      word,
      meaning ?? '',
    ]),
  )
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)))
  const title =
    `Arguments of ${name}, as ` +
    `${convention === 'stack' ? 'Go 1.16 and older print them' : 'Go 1.17 and newer print them'}`
  return [
    `  ${strong(title)}`,
    ...(rows.length === 0
      ? ['    none']
      : rows.map((row) =>
          `    ${row.map((cell, column) => (column < 4 ? cell.padEnd(widths[column]!) : cell)).join('  ')}`.trimEnd(),
        )),
    ...notes.map((note) => faint(`    ${note}`)),
  ]
}
