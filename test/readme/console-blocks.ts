/** The console blocks of a Markdown file: commands after `$ `, each with the output below it. */

export interface ConsoleCommand {
  /** One line, or several with a here-document. */
  readonly command: string
  readonly output: readonly string[]
  readonly line: number
}

/** Returns the commands of all ```console blocks, in order. */
export function consoleCommands(markdown: string): ConsoleCommand[] {
  const commands: { command: string; output: string[]; line: number }[] = []
  let isConsole = false
  let delimiter: string | undefined
  for (const [index, text] of markdown.split('\n').entries()) {
    const last = commands.at(-1)
    if (text.startsWith('```')) isConsole = !isConsole && text === '```console'
    else if (!isConsole) continue
    else if (delimiter !== undefined) {
      last!.command += `\n${text}`
      if (text === delimiter) delimiter = undefined
    } else if (text.startsWith('$ ')) {
      commands.push({ command: text.slice(2), output: [], line: index + 1 })
      delimiter = /<<'(\w+)'/.exec(text)?.[1]
    } else last?.output.push(text)
  }
  return commands
}

/**
 * Returns the text that ends the output of a command in the background, whose prompt comes before. Undefined for other
 * commands, and for those that print nothing.
 */
export function lastDocumented({ command, output }: ConsoleCommand): string | undefined {
  if (!command.endsWith(' &')) return undefined
  return output.map((one) => one.split('…')[0]!.trim()).findLast((one) => one !== '')
}

/**
 * Returns true if an output is as documented. `…` stands for anything, on a line of its own for any number of lines.
 * Ages, durations, cluster IPs, ports and the width of columns may differ.
 */
export function matches(documented: readonly string[], output: readonly string[]): boolean {
  const [first, ...rest] = trimmed(documented)
  const lines = trimmed(output)
  if (first === undefined) return lines.length === 0
  if (first.trim() === '…') {
    if (rest.length === 0) return true
    return lines.some((_, index) => matches(rest, lines.slice(index)))
  }
  const [line, ...others] = lines
  if (line === undefined || !lineMatches(first, line)) return false
  if (rest.length === 0) return others.length === 0
  return matches(rest, others)
}

/** Drops empty lines, since the space between tables and paragraphs may differ. */
const trimmed = (lines: readonly string[]): string[] => lines.filter((line) => line.trim() !== '')

function lineMatches(documented: string, line: string): boolean {
  const pattern = variable(documented)
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${pattern}$`).test(variable(line))
}

const variable = (line: string): string =>
  line
    .replace(/\b\d+(?:ms|s)\b|\b\d+ ms\b|\b\d+m\d+s\b/g, 'TIME')
    .replace(/\b10\.96\.\d+\.\d+\b/g, 'ADDRESS')
    .replace(/(https:\/\/127\.0\.0\.1):\d+/g, '$1:PORT')
    .replace(/\s+/g, ' ')
    .trim()
