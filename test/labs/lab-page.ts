/** A page of docs/labs: commands that a reader types and that the runner types, with their output. */
import { type ConsoleCommand, consoleCommands } from '../readme/console-blocks.ts'

export interface LabPage {
  readonly commands: readonly ConsoleCommand[]
  /** Programs that the commands call: `tcpdump`. */
  readonly needs: readonly string[]
  /** Patterns of parts of the output that differ in each run. */
  readonly varies: readonly string[]
}

/**
 * Reads a page. Its first comment, `<!-- lab … -->`, has lines `needs: PROGRAM…` and `varies: REGULAR EXPRESSION`.
 * @throws for a page without the comment or without commands, and for other lines in the comment.
 */
export function labPage(markdown: string): LabPage {
  const comment = /^<!-- lab\n([\s\S]*?)-->$/m.exec(markdown)?.[1]
  if (comment === undefined) throw new Error('the page has no comment <!-- lab … -->: see docs/labs/README.md')
  const needs: string[] = []
  const varies: string[] = []
  for (const line of comment.split('\n').filter((one) => one.trim() !== '')) {
    const [, field, value = ''] = /^(needs|varies): (.+)$/.exec(line) ?? []
    if (field === 'needs') needs.push(...value.split(/\s+/))
    else if (field === 'varies') varies.push(value)
    else throw new Error(`the comment of the lab has the line ${JSON.stringify(line)}: write needs: or varies:`)
  }
  const commands = consoleCommands(markdown)
  if (commands.length === 0) throw new Error('the page has no ```console block with commands after "$ "')
  return { commands, needs, varies }
}

/** Returns the page with other outputs; `undefined` leaves the output of a command as it is. */
export function withOutputs(
  markdown: string,
  commands: readonly ConsoleCommand[],
  outputs: readonly (readonly string[] | undefined)[],
): string {
  const lines = markdown.split('\n')
  // From the end, as the numbers of earlier lines stay valid.
  for (const [index, { command, output, line }] of [...commands.entries()].toReversed()) {
    const written = outputs[index]
    if (written) lines.splice(line - 1 + command.split('\n').length, output.length, ...written)
  }
  return lines.join('\n')
}
