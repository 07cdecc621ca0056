/** Questions with one line as their answer. Escape and Ctrl-C break them off. */
import { ExplainedError } from '../../lib/explained-error.ts'
import type { Terminal } from './terminal.ts'

/** What somebody types, without showing it. Rejects with an ExplainedError when it is broken off. */
export const askSecret = (terminal: Terminal, question: string): Promise<string> => line(terminal, question, false)

/** Yes or no; Return alone is `usual`. Rejects with an ExplainedError when it is broken off. */
export async function askYesNo(terminal: Terminal, question: string, usual: boolean): Promise<boolean> {
  for (;;) {
    const answer = (await line(terminal, `${question} ${usual ? '[Y/n]' : '[y/N]'} `, true)).trim()
    if (answer === '') return usual
    if (/^y(es)?$/i.test(answer)) return true
    if (/^no?$/i.test(answer)) return false
    terminal.write('Please answer y or n. ')
  }
}

async function line(terminal: Terminal, question: string, shown: boolean): Promise<string> {
  terminal.write(question)
  let typed = ''
  let broken = false
  await terminal.keys(({ name, text, ctrl }) => {
    if (name === 'escape' || (ctrl && (name === 'c' || name === 'd'))) {
      broken = true
      return 'done'
    }
    if (name === 'return' || name === 'enter') return 'done'
    if (name === 'backspace') {
      if (shown && typed !== '') terminal.write('\b \b')
      typed = [...typed].slice(0, -1).join('')
    } else if (ctrl && name === 'u') {
      if (shown) terminal.write('\b \b'.repeat(typed.length))
      typed = ''
    } else if (text >= ' ') {
      typed += text
      if (shown) terminal.write(text)
    }
    return 'more'
  })
  terminal.write('\n')
  if (broken) throw new ExplainedError('nobody answered: nothing was changed')
  return typed
}
