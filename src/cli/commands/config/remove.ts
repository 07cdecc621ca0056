/** `t8s config remove`: removes a context, and its cluster and user if they are not used elsewhere. */
import { Command } from 'commander'
import {
  chosenName,
  givenName,
  kubeconfigOption,
  locations,
  type NameFlags,
  nameOption,
  print,
  quoted,
} from './options.ts'

export function removeCommand(): Command {
  return new Command('remove')
    .alias('rm')
    .argument('[NAME]', 'the name of the context')
    .description(
      'remove a context, and its cluster and user if no other context uses them; without a name, choose it from a list',
    )
    .addOption(nameOption())
    .addOption(kubeconfigOption())
    .addHelpText(
      'after',
      '\nExamples:\n  t8s config remove            choose from a list\n  t8s config remove -n dev\n  t8s config ' +
        'undo              restores it',
    )
    .action(remove)
}

async function remove(argument: string | undefined, flags: NameFlags): Promise<void> {
  const name = givenName(argument, flags) ?? (await chosenName(flags, 'Remove which context?', 't8s config remove'))
  const [{ changeKubeconfigs }, { removeContext }] = await Promise.all([
    import('../../../tools/config/files/change.ts'),
    import('../../../tools/config/contexts/change-contexts.ts'),
  ])
  const { also, shadowedIn, wasCurrent } = await changeKubeconfigs(await locations(flags), `remove ${name}`, (config) =>
    removeContext(config, name),
  )
  print(
    `removed ${quoted(name)}${also.length > 0 ? `, and with it the ${also.join(' and the ')}` : ''}; t8s config ` +
      'undo restores it',
  )
  if (shadowedIn) print(`${shadowedIn} also has a context with that name, which is used from now on`)
  if (wasCurrent) print('it was the current context: choose another with t8s config use')
}
