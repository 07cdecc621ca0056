/** `t8s config merge`: takes all that other kubeconfigs have into the own one. */
import { Command, Option } from 'commander'
import type { ConfigEntry } from '../../../kubeconfig/documents/config-document.ts'
import type { IncomingContext } from '../../../kubeconfig/import/incoming.ts'
import { type FileFlags, kubeconfigOption, locations, print, quoted } from './options.ts'

interface MergeFlags extends FileFlags {
  readonly force?: boolean
  readonly embed?: boolean
}

export function mergeCommand(): Command {
  return new Command('merge')
    .argument('<FILE...>', 'kubeconfigs; - for standard input')
    .description('take all contexts of other kubeconfigs in')
    .addOption(new Option('--force', 'replace contexts of the same names'))
    .addOption(new Option('--embed', 'put certificates, keys and tokens in, in the place of the names of their files'))
    .addOption(kubeconfigOption())
    .addHelpText('after', '\nExamples:\n  t8s config merge ~/Downloads/*.yaml\n  KUBECONFIG=all.yaml t8s config merge --embed a.yaml b.yaml')
    .action(merge)
}

async function merge(names: readonly string[], { force = false, embed = false, ...flags }: MergeFlags): Promise<void> {
  const [
    { changeKubeconfigs },
    { addAll, allContexts, spareEntries },
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
  const incoming: { readonly contexts: readonly IncomingContext[]; readonly spare: readonly ConfigEntry[] }[] = []
  for (const name of names) {
    const source = await (name === '-' ? inputSource(process.stdin) : fileSource(name))
    const document = new ConfigDocument(source.text, notImportable(source.name))
    const contexts = await Promise.all(allContexts(document, source.name).map((context) => selfContained(context, source, embed)))
    const spare = await Promise.all(spareEntries(document, contexts).map((entry) => selfContainedEntry(entry, source, embed)))
    incoming.push({ contexts, spare })
  }
  const merged = await changeKubeconfigs(await locations(flags), `merge ${names.join(' ')}`, (config) =>
    incoming.flatMap(({ contexts, spare }) => addAll(config, contexts, spare, force)),
  )
  print(
    ...(merged.length > 0
      ? merged.map(({ name, how }) => `${quoted(name)} ${how === 'there already' ? 'is' : 'was'} ${how}`)
      : ['there were no contexts to take in']),
  )
}
