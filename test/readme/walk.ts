/** Carries out a document as a reader would, and compares what is printed. */
import { type ConsoleCommand, lastDocumented, matches } from './console-blocks.ts'
import type { Shell } from './shell.ts'

/** Returns a text for each command whose output is not as documented. `replaced` gives the command that is run. */
export async function faultsOf(
  shell: Shell,
  document: string,
  commands: readonly ConsoleCommand[],
  replaced: (command: string) => string = (command) => command,
): Promise<string[]> {
  const faults: string[] = []
  for (const one of commands) {
    const { command, output, line } = one
    const printed = await shell.run(replaced(command), lastDocumented(one))
    const shown = printed.filter((text) => !text.startsWith('t8s: '))
    if (!matches(output, shown))
      faults.push(
        `${document}:${line}: $ ${command}\ndocumented:\n${output.join('\n')}\nprinted:\n${printed.join('\n')}`,
      )
  }
  return faults
}
