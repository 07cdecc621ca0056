/** The flags of kube-apiserver as options of another command: they are not in its help, and a flag that is misspelt is told as one of its own. */
import { type Command, Option } from 'commander'
import { allApiServerFlags } from '../../apiserver/serving-flags/index.ts'

/** Adds those that the command does not have. What was given comes out of `givenApiServerFlags`. */
export function addApiServerOptions(command: Command): void {
  // Help and version are every command's.
  const own = new Set(['--help', '--version', ...command.options.map(({ long }) => long)])
  for (const { name, type } of allApiServerFlags) {
    if (own.has(`--${name}`)) continue
    const value = type === 'bool' ? '[BOOL]' : '<VALUE>'
    command.addOption(new Option(`--${name} ${value}`).hideHelp().argParser((text, before: string[] = []) => [...before, text]))
  }
}

/** As a command line: `--audit-log-path=-`. */
export function givenApiServerFlags(command: Command): string[] {
  const values = command.opts<Record<string, unknown>>()
  return command.options.flatMap((option) => {
    const given = values[option.attributeName()]
    if (!option.hidden || given === undefined) return []
    return given === true ? [option.long!] : (given as string[]).map((text) => `${option.long}=${text}`)
  })
}
