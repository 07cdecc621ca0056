/** `t8s status`: shows a cluster that `t8s up --detach` has started. */
import { Command, Option } from 'commander'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { shellWord } from '../../../lib/shell-word.ts'
import { clusterName, defaultName } from '../../detached/cluster-names.ts'
import { ClusterRecords, isRunning } from '../../detached/records.ts'

const examples = `
The exit code is 0 for a cluster that runs, else 1.

Examples:
  t8s status
  t8s status --name dev`

export const statusCommand = (): Command =>
  new Command('status')
    .description('show a cluster that t8s up --detach has started')
    .addOption(new Option('--name <NAME>', 'the name of the cluster').argParser(clusterName).default(defaultName))
    .addHelpText('after', examples)
    .action(status)

function status({ name }: { readonly name: string }): void {
  const records = new ClusterRecords(process.env)
  const record = records.read(name)
  if (!record)
    throw new ExplainedError(`no cluster ${name} was started with t8s up --detach: t8s list shows the clusters`)
  const running = isRunning(record)
  const lines = running
    ? [
        `${name} runs on ${record.url} (pid ${record.pid})`,
        `data in ${record.dataDirectory}`,
        `log in ${records.logFile(name)}`,
        `\n  export KUBECONFIG=${shellWord(record.kubeconfig)}`,
      ]
    : [`${name} has stopped`, `data in ${record.dataDirectory}`, `log in ${records.logFile(name)}`]
  process.stdout.write(`${lines.join('\n')}\n`)
  if (!running) process.exitCode = 1
}
