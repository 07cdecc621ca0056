/** Shows a list on a terminal until the user has chosen, then erases it. */
import { type Choosable, lines, newChoice, press } from './choice.ts'
import type { Terminal } from './terminal.ts'

/** Limits the height of the list on large terminals. */
const maxRows = 17

/** Resolves with the chosen name, or undefined if it is canceled. */
export async function choose(
  terminal: Terminal,
  title: string,
  items: readonly Choosable[],
  current?: string,
): Promise<string | undefined> {
  let choice = newChoice(items, current)
  let chosen: string | undefined
  let drawn = 0
  const draw = (): void => {
    const text = lines(title, choice, Math.min(terminal.rows, maxRows), terminal.columns)
    // Redraws from the first line. The cursor is hidden during the redraw.
    terminal.write(
      `\x1b[?25l${toFirstLine(drawn)}\x1b[J` +
        text.map((line) => (line.startsWith('>') ? `\x1b[7m${line}\x1b[0m` : line)).join('\r\n'),
    )
    drawn = text.length
  }
  draw()
  try {
    await terminal.keys((pressed) => {
      const decision = press(choice, pressed)
      if (decision.is === 'open') {
        choice = decision.choice
        draw()
        return 'more'
      }
      chosen = decision.is === 'chosen' ? decision.name : undefined
      return 'done'
    })
  } finally {
    terminal.write(`${toFirstLine(drawn)}\x1b[J\x1b[?25h`)
  }
  return chosen
}

const toFirstLine = (lines: number): string => (lines > 1 ? `\r\x1b[${lines - 1}A` : '\r')
