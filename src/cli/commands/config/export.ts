/** `t8s config export`: a kubeconfig with one context alone. */
import { Command, Option } from 'commander'
import { type FileFlags, kubeconfigOption, locations, print, quoted } from './options.ts'

interface ExportFlags extends FileFlags {
  readonly file?: string
  readonly embed?: boolean
  readonly force?: boolean
}

export function exportCommand(): Command {
  return new Command('export')
    .argument('<NAME>', 'the name of the context')
    .description('write a kubeconfig with one context alone, with its cluster and user')
    .addOption(new Option('-f, --file <FILE>', 'where to (default: standard output)'))
    .addOption(new Option('--embed', 'put certificates, keys and tokens in, in the place of the names of their files'))
    .addOption(new Option('--force', 'replace a file that is there'))
    .addOption(kubeconfigOption())
    .addHelpText(
      'after',
      '\nExamples:\n  t8s config export dev -f dev.yaml\n  t8s config export dev --embed | ssh host "cat > kubeconfig"',
    )
    .action(exportContext)
}

async function exportContext(
  name: string,
  { file, embed = false, force = false, ...flags }: ExportFlags,
): Promise<void> {
  const { exportedContext, writeExport } = await import('../../../kubeconfig/contexts/export-context.ts')
  const text = await exportedContext((await locations(flags)).files, name, embed)
  if (file === undefined || file === '-') process.stdout.write(text)
  else {
    writeExport(file, text, force)
    print(`${quoted(name)} alone is in ${file}`)
  }
}
