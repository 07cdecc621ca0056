/** `t8s record`: saves the objects of any live cluster to a file, which `t8s replay` serves. */
import { Command, Option } from 'commander'
import { clusterEnvironment } from '../../../kubeconfig/find-cluster.ts'
import { type ContextFlags, contextFlags } from '../../flags/context-flags.ts'
import { repeated } from '../../flags/repeated.ts'
import { ProgressLine } from '../../terminal/progress-line.ts'

const examples = `
It reads only: the user needs the right to list. Values of Secrets are replaced; other objects are recorded as they are,
with what people may have written into ConfigMaps and environment variables: read the file before you give it away
(zcat FILE).

Examples:
  t8s record production.t8s --context production
  t8s record team.t8s --namespace team-a --namespace team-b`

interface RecordFlags extends ContextFlags {
  readonly namespace?: readonly string[]
  readonly secrets: 'replace' | 'include' | 'omit'
}

export function recordCommand(): Command {
  const command = new Command('record')
    .argument('<FILE>', 'the file to write; it must not exist')
    .description('save the objects of a live cluster to a file')
    .option('-n, --namespace <NAME>', 'record this namespace only; may be repeated', repeated)
    .addOption(
      new Option('--secrets <HOW>', 'replace: with other values; include: as they are; omit: none')
        .choices(['replace', 'include', 'omit'])
        .default('replace'),
    )
    .addHelpText('after', examples)
    .action(record)
  for (const flag of contextFlags()) command.addOption(flag)
  return command
}

async function record(file: string, { namespace, secrets, ...flags }: RecordFlags): Promise<void> {
  const [{ connectTo }, { recordCluster }] = await Promise.all([
    import('../../../client/index.ts'),
    import('../../../tools/recording/record.ts'),
  ])
  const client = await connectTo({ ...flags, environment: await clusterEnvironment(flags), userAgent: 't8s' })
  const progress = new ProgressLine(process.stderr)
  try {
    const { objects, kinds, gitVersion, replaced, omitted } = await recordCluster(client, file, {
      secrets,
      namespaces: namespace,
      progress: (done, all) => progress.showSteps('recording kinds', done, all),
      now: new Date(),
    })
    progress.end()
    const lines = [
      `recorded ${objects} objects of ${kinds} kinds to ${file} (Kubernetes ${gitVersion})`,
      ...(replaced > 0 ? [`replaced the values of ${replaced} Secrets; --secrets=include records them`] : []),
      ...omitted.map((what) => `not recorded: ${what}`),
      `serve it with: t8s replay ${file}`,
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
  } finally {
    progress.end()
    client.close()
  }
}
