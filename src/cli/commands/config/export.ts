/** `t8s config export`: writes a kubeconfig with a single context. */
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
    .description('write a kubeconfig with a single context, its cluster and its user')
    .addOption(new Option('-f, --file <FILE>', 'the file to write (default: standard output)'))
    .addOption(new Option('--embed', 'embed certificates, keys and tokens in place of file names'))
    .addOption(new Option('--force', 'overwrite an existing file'))
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
  const { exportedContext, writeExport } = await import('../../../tools/config/contexts/export-context.ts')
  const text = await exportedContext((await locations(flags)).files, name, embed)
  if (file === undefined || file === '-') process.stdout.write(text)
  else {
    writeExport(file, text, force)
    print(`wrote ${quoted(name)} to ${file}`)
  }
}
