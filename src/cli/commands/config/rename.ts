/** `t8s config rename`: gives a context another name. */
import { Command, Option } from 'commander'
import { type FileFlags, kubeconfigOption, locations, print, quoted } from './options.ts'

interface RenameFlags extends FileFlags {
  readonly name: string
  readonly to: string
}

export function renameCommand(): Command {
  return new Command('rename')
    .description('give a context another name; its cluster and user keep theirs')
    .addOption(new Option('-n, --name <OLD>', 'its name until now').makeOptionMandatory())
    .addOption(new Option('-t, --to <NEW>', 'its name from now on').makeOptionMandatory())
    .addOption(kubeconfigOption())
    .addHelpText('after', '\nExample:\n  t8s config rename -n kubernetes-admin@kubernetes -t production')
    .action(rename)
}

async function rename({ name, to, ...flags }: RenameFlags): Promise<void> {
  const [{ changeKubeconfigs }, { renameContext }] = await Promise.all([
    import('../../../kubeconfig/files/change.ts'),
    import('../../../kubeconfig/contexts/change-contexts.ts'),
  ])
  await changeKubeconfigs(await locations(flags), `rename ${name} to ${to}`, (config) =>
    renameContext(config, name, to),
  )
  print(`${quoted(name)} is called ${quoted(to)} now`)
}
