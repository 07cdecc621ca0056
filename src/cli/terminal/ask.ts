/** Prompts for one line. Escape and Ctrl-C cancel. */
import { ExplainedError } from '../../lib/explained-error.ts'
import type { Terminal } from './terminal.ts'

/** Reads a line without showing it. Rejects with an ExplainedError if it is canceled. */
export const askSecret = (terminal: Terminal, question: string): Promise<string> => line(terminal, question, false)

/** Asks yes or no; Return alone means `defaultAnswer`. Rejects with an ExplainedError if it is canceled. */
export async function askYesNo(terminal: Terminal, question: string, defaultAnswer: boolean): Promise<boolean> {
  for (;;) {
    const answer = (await line(terminal, `${question} ${defaultAnswer ? '[Y/n]' : '[y/N]'} `, true)).trim()
    if (answer === '') return defaultAnswer
    if (/^y(es)?$/i.test(answer)) return true
    if (/^no?$/i.test(answer)) return false
    terminal.write('Please answer y or n. ')
  }
}

async function line(terminal: Terminal, question: string, isVisible: boolean): Promise<string> {
  terminal.write(question)
  let typed = ''
  let isCanceled = false
  await terminal.keys(({ name, text, ctrl }) => {
    if (name === 'escape' || (ctrl && (name === 'c' || name === 'd'))) {
      isCanceled = true
      return 'done'
    }
    if (name === 'return' || name === 'enter') return 'done'
    if (name === 'backspace') {
      if (isVisible && typed !== '') terminal.write('\b \b')
      typed = [...typed].slice(0, -1).join('')
    } else if (ctrl && name === 'u') {
      if (isVisible) terminal.write('\b \b'.repeat(typed.length))
      typed = ''
    } else if (text >= ' ') {
      typed += text
      if (isVisible) terminal.write(text)
    }
    return 'more'
  })
  terminal.write('\n')
  if (isCanceled) throw new ExplainedError('canceled: nothing was changed')
  return typed
}
