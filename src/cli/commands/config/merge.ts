/** `t8s config merge`: imports all contexts of other kubeconfigs. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { Incoming } from '../../../tools/config/contexts/add-context.ts'
import { type FileFlags, kubeconfigOption, locations, print, quoted } from './options.ts'

interface MergeFlags extends FileFlags {
  readonly as?: string
  readonly force?: boolean
  readonly embed?: boolean
}

const examples = `
Examples:
  t8s config merge ~/Downloads/*.yaml
  t8s config merge --as dev ~/Downloads/admin.conf              names its context, cluster and user dev
  t8s config merge dev=dev.conf test=test.conf prod=prod.conf   three kubeadm files with the same names
  KUBECONFIG=all.yaml t8s config merge --embed a.yaml b.yaml

If a file has one context, PREFIX becomes the name of the context, cluster and user. If it has several, PREFIX is put
before their names: prod-admin, prod-viewer. A kubeconfig in JSON stays JSON.`

export function mergeCommand(): Command {
  return new Command('merge')
    .argument('<[PREFIX=]FILE...>', 'kubeconfigs, each with an optional prefix for its names; - for standard input')
    .description('import all contexts of other kubeconfigs')
    .addOption(new Option('--as <PREFIX>', 'the prefix for the names of a single file'))
    .addOption(new Option('--force', 'replace existing contexts with the same names'))
    .addOption(new Option('--embed', 'embed certificates, keys and tokens in place of file names'))
    .addOption(kubeconfigOption())
    .addHelpText('after', examples)
    .action(merge)
}

async function merge(
  args: readonly string[],
  { as, force = false, embed = false, ...flags }: MergeFlags,
): Promise<void> {
  const [
    { changeKubeconfigs },
    { addAll, allContexts, renamed, spareEntries },
    { ConfigDocument },
    { fileSource, inputSource },
    { notImportable, selfContained, selfContainedEntry },
  ] = await Promise.all([
    import('../../../tools/config/files/change.ts'),
    import('../../../tools/config/contexts/add-context.ts'),
    import('../../../tools/config/documents/config-document.ts'),
    import('../../../tools/config/import/source.ts'),
    import('../../../tools/config/import/incoming.ts'),
  ])
  // Read all files before changing anything.
  const all: Incoming[] = []
  for (const { file, prefix } of namedFiles(args, as)) {
    const source = await (file === '-' ? inputSource(process.stdin) : fileSource(file))
    const document = new ConfigDocument(source.text, notImportable(source.name))
    const contexts = await Promise.all(
      allContexts(document, source.name).map((context) => selfContained(context, source, embed)),
    )
    const spare = await Promise.all(
      spareEntries(document, contexts).map((entry) => selfContainedEntry(entry, source, embed)),
    )
    all.push(prefix === undefined ? { contexts, spare } : renamed({ contexts, spare }, prefix))
  }
  const merged = await changeKubeconfigs(await locations(flags), `merge ${args.join(' ')}`, (config) =>
    all.flatMap((one) => addAll(config, one, force)),
  )
  print(
    ...(merged.length > 0
      ? merged.map(({ name, how }) => `${quoted(name)} ${how === 'unchanged' ? 'is' : 'was'} ${how}`)
      : ['there were no contexts to import']),
  )
}

interface NamedFile {
  readonly file: string
  readonly prefix: string | undefined
}

/**
 * Parses `PREFIX=FILE`; an existing file whose name contains `=` is taken as it is. Throws an ExplainedError for `--as`
 * with several files.
 */
function namedFiles(args: readonly string[], as: string | undefined): NamedFile[] {
  if (as !== undefined && args.length > 1)
    throw new ExplainedError(`--as is for a single file: use PREFIX=FILE for each, such as ${as}=${args[0]}`)
  return args.map((arg) => {
    const [, prefix, file] = (!existsSync(arg) && /^([^=/]*)=(.+)$/s.exec(arg)) || []
    if (file === undefined) return { file: arg, prefix: as }
    if (as !== undefined) throw new ExplainedError(`two prefixes, ${quoted(as)} and ${quoted(prefix ?? '')}: give one`)
    if (prefix === '')
      throw new ExplainedError(`${quoted(arg)} has an empty prefix: give one before the =, or only the file`)
    // Shells do not expand a tilde after =.
    return { file: file.startsWith('~/') ? join(process.env.HOME || homedir(), file.slice(2)) : file, prefix }
  })
}
