/** `t8s config merge`: takes all that other kubeconfigs have into the own one. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import type { Incoming } from '../../../kubeconfig/contexts/add-context.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { type FileFlags, kubeconfigOption, locations, print, quoted } from './options.ts'

interface MergeFlags extends FileFlags {
  readonly as?: string
  readonly force?: boolean
  readonly embed?: boolean
}

const examples = `
Examples:
  t8s config merge ~/Downloads/*.yaml
  t8s config merge --as dev ~/Downloads/admin.conf              its context, cluster and user are called dev
  t8s config merge dev=dev.conf test=test.conf prod=prod.conf   three files of kubeadm, all with the same names
  KUBECONFIG=all.yaml t8s config merge --embed a.yaml b.yaml

PREFIX names the context, the cluster and the user of a file that has one context. The names of a file that has several get it in
front: prod-admin, prod-viewer. A kubeconfig in JSON stays JSON.`

export function mergeCommand(): Command {
  return new Command('merge')
    .argument('<[PREFIX=]FILE...>', 'kubeconfigs, with a prefix for the names in them; - for standard input')
    .description('take all contexts of other kubeconfigs in')
    .addOption(new Option('--as <PREFIX>', 'the prefix for the names of a single file'))
    .addOption(new Option('--force', 'replace contexts of the same names'))
    .addOption(new Option('--embed', 'put certificates, keys and tokens in, in the place of the names of their files'))
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
    import('../../../kubeconfig/files/change.ts'),
    import('../../../kubeconfig/contexts/add-context.ts'),
    import('../../../kubeconfig/documents/config-document.ts'),
    import('../../../kubeconfig/import/source.ts'),
    import('../../../kubeconfig/import/incoming.ts'),
  ])
  // All are read before anything is changed.
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
      ? merged.map(({ name, how }) => `${quoted(name)} ${how === 'there already' ? 'is' : 'was'} ${how}`)
      : ['there were no contexts to take in']),
  )
}

interface NamedFile {
  readonly file: string
  readonly prefix: string | undefined
}

/**
 * `PREFIX=FILE`; a file whose own name has such a sign is taken as it is. Throws an ExplainedError for `--as` with more
 * than one.
 */
function namedFiles(args: readonly string[], as: string | undefined): NamedFile[] {
  if (as !== undefined && args.length > 1)
    throw new ExplainedError(`--as is for one file: name each as PREFIX=FILE, such as ${as}=${args[0]}`)
  return args.map((arg) => {
    const [, prefix, file] = (!existsSync(arg) && /^([^=/]*)=(.+)$/s.exec(arg)) || []
    if (file === undefined) return { file: arg, prefix: as }
    if (as !== undefined)
      throw new ExplainedError(`there are two prefixes, ${quoted(as)} and ${quoted(prefix ?? '')}: give one`)
    if (prefix === '')
      throw new ExplainedError(`${quoted(arg)} has no prefix: name one in front of the =, or the file alone`)
    // Shells leave a tilde behind a = alone.
    return { file: file.startsWith('~/') ? join(process.env.HOME || homedir(), file.slice(2)) : file, prefix }
  })
}
