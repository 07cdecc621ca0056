/** `t8s config rename`: renames a context. */
import { Command, Option } from 'commander'
import { type FileFlags, kubeconfigOption, locations, print, quoted } from './options.ts'

interface RenameFlags extends FileFlags {
  readonly name: string
  readonly to: string
}

export function renameCommand(): Command {
  return new Command('rename')
    .description('rename a context; its cluster and user keep their names')
    .addOption(new Option('-n, --name <OLD>', 'the current name').makeOptionMandatory())
    .addOption(new Option('-t, --to <NEW>', 'the new name').makeOptionMandatory())
    .addOption(kubeconfigOption())
    .addHelpText('after', '\nExample:\n  t8s config rename -n kubernetes-admin@kubernetes -t production')
    .action(rename)
}

async function rename({ name, to, ...flags }: RenameFlags): Promise<void> {
  const [{ changeKubeconfigs }, { renameContext }] = await Promise.all([
    import('../../../tools/config/files/change.ts'),
    import('../../../tools/config/contexts/change-contexts.ts'),
  ])
  await changeKubeconfigs(await locations(flags), `rename ${name} to ${to}`, (config) =>
    renameContext(config, name, to),
  )
  print(`renamed ${quoted(name)} to ${quoted(to)}`)
}
