/**
 * The flags of kube-apiserver and of controllers as hidden options of another command, so that its help stays short and
 * misspelled flags get suggestions.
 */
import { type Command, Option } from 'commander'
import { allApiServerFlags } from '../../apiserver/serving-flags/index.ts'
import { controllerFlags } from '../../controllers/index.ts'

const controllerNames = new Set(controllerFlags.map(({ name }) => name))

/** Adds the flags that the command does not have; read their values with `givenApiServerFlags`. */
export const addApiServerOptions = (command: Command): void =>
  addHidden(
    command,
    allApiServerFlags.map(({ name, type }) => ({ name, isBoolean: type === 'bool' })),
  )

/** The same for controllers; read their values with `givenControllerFlags`. */
export const addControllerOptions = (command: Command): void =>
  addHidden(
    command,
    controllerFlags.map(({ name, type }) => ({ name, isBoolean: type === 'boolean' })),
  )

/** The given flags as a command line: `--audit-log-path=-`. */
export const givenApiServerFlags = (command: Command): string[] =>
  givenHidden(command).flatMap(({ name, texts }) =>
    controllerNames.has(name) ? [] : texts.map((text) => (text === true ? `--${name}` : `--${name}=${text}`)),
  )

/** The given flags by name; the last value of a repeated flag counts. */
export const givenControllerFlags = (command: Command): Record<string, string> =>
  Object.fromEntries(
    givenHidden(command).flatMap(({ name, texts }) => (controllerNames.has(name) ? [[name, `${texts.at(-1)}`]] : [])),
  )

function addHidden(command: Command, flags: readonly { readonly name: string; readonly isBoolean: boolean }[]): void {
  // Every command has --help and --version.
  const own = new Set(['--help', '--version', ...command.options.map(({ long }) => long)])
  for (const { name, isBoolean } of flags) {
    if (own.has(`--${name}`)) continue
    const value = isBoolean ? '[BOOL]' : '<VALUE>'
    const option = new Option(`--${name} ${value}`)
    // Only for completion: upstream's own error lists them for a wrong value.
    if (name === 'logging-format') option.argChoices = ['text', 'json']
    command.addOption(option.hideHelp().argParser((text, before: string[] = []) => [...before, text]))
  }
}

/** The values of given hidden flags; true for a flag without a value. */
function givenHidden(command: Command): { readonly name: string; readonly texts: readonly (string | true)[] }[] {
  const values = command.opts<Record<string, true | readonly string[] | undefined>>()
  return command.options.flatMap((option) => {
    const given = values[option.attributeName()]
    if (!option.hidden || given === undefined) return []
    return [{ name: option.long!.slice('--'.length), texts: given === true ? [given] : given }]
  })
}
