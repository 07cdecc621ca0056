import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { commandsFor } from './index.ts'

/** All commands with those below them, by their full names. */
async function allCommands(): Promise<[name: string, command: Command][]> {
  const below = (command: Command, prefix: string): [string, Command][] => {
    const name = `${prefix} ${command.name()}`
    return [[name, command], ...command.commands.flatMap((one) => below(one, name))]
  }
  return (await commandsFor(undefined)).flatMap((command) => below(command, 't8s'))
}

/** Lower case, or an abbreviation. */
const voice = /^(?:[a-z`'"-]|[A-Z]{2})/

test('descriptions of commands begin with a verb, those of flags in lower case, none ends with a stop', async () => {
  const wrong: string[] = []
  for (const [name, command] of await allCommands()) {
    const description = command.description()
    if (!/^[a-z]/.test(description) || /\.$/.test(description)) wrong.push(`${name}: ${description}`)
    for (const option of command.options) {
      if (option.hidden) continue
      if (!voice.test(option.description) || /\.$/.test(option.description))
        wrong.push(`${name} ${option.long}: ${option.description}`)
    }
  }
  assert.deepEqual(wrong, [])
})
