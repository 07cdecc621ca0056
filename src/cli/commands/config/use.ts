/** `t8s config use`: makes a context the current one. */
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

export function useCommand(): Command {
  return new Command('use')
    .argument('[NAME]', 'the name of the context; - for the previous one')
    .description('make a context the current one; without a name, choose it from a list')
    .addOption(nameOption())
    .addOption(kubeconfigOption())
    .addHelpText(
      'after',
      '\nExamples:\n  t8s config use           choose from a list\n  t8s config use dev\n  t8s config use -      ' +
        '   the previous context',
    )
    .action(use)
}

async function use(argument: string | undefined, flags: NameFlags): Promise<void> {
  const name = givenName(argument, flags) ?? (await chosenName(flags, 'Use which context?', 't8s config use'))
  const [{ changeKubeconfigs }, { useContext }] = await Promise.all([
    import('../../../tools/config/files/change.ts'),
    import('../../../tools/config/contexts/change-contexts.ts'),
  ])
  const { before, now } = await changeKubeconfigs(await locations(flags), `use ${name}`, (config) => ({
    before: config.currentContext,
    now: useContext(config, name),
  }))
  print(before === now ? `${quoted(now)} is the current context already` : `switched to context ${quoted(now)}`)
}
