/** Shows a list on a terminal until somebody has chosen, and leaves no trace of it. */
import { type Choosable, lines, newChoice, press } from './choice.ts'
import type { Terminal } from './terminal.ts'

/** No list is longer on the screen, however many lines a terminal has. */
const maxRows = 17

/** The name that is chosen; undefined when somebody leaves it. */
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
    // Back to the first line, and over what stands there. The cursor is hidden while it jumps.
    terminal.write(
      `\x1b[?25l${back(drawn)}\x1b[J${text.map((line) => (line.startsWith('>') ? `\x1b[7m${line}\x1b[0m` : line)).join('\r\n')}`,
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
    terminal.write(`${back(drawn)}\x1b[J\x1b[?25h`)
  }
  return chosen
}

const back = (lines: number): string => (lines > 1 ? `\r\x1b[${lines - 1}A` : '\r')
