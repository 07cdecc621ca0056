/** `t8s list`: lists the clusters that `t8s up --detach` has started. */
import { Command, Option } from 'commander'
import { ClusterRecords, isRunning } from '../../detached/records.ts'
import { table } from '../../terminal/table.ts'

const examples = `
Examples:
  t8s list
  t8s list -o name
  t8s list -o json | jq -r '.[] | select(.running).url'`

interface ListFlags {
  readonly output?: 'json' | 'name'
}

export const listCommand = (): Command =>
  new Command('list')
    .description('list the clusters that t8s up --detach has started')
    .addOption(new Option('-o, --output <FORMAT>', 'machine-readable output').choices(['json', 'name']))
    .addHelpText('after', examples)
    .action(list)

function list({ output }: ListFlags): void {
  const records = new ClusterRecords(process.env)
  const clusters = records
    .list()
    .map((record) => ({ record, running: isRunning(record), log: records.logFile(record.name) }))
  if (output === 'name') print(...clusters.map(({ record }) => record.name))
  else if (output) print(JSON.stringify(clusters.map(shown), undefined, 2))
  else if (clusters.length === 0) print('no clusters: t8s up --detach starts one')
  else
    print(
      ...table(
        ['NAME', 'STATUS', 'SERVER', 'DATA'],
        clusters.map(({ record, running }) => [
          record.name,
          running ? 'running' : 'stopped',
          running ? record.url : '',
          record.dataDirectory,
        ]),
      ),
    )
}

/** The fields for programs. */
const shown = ({ record: { name, pid, url, kubeconfig, dataDirectory }, running, log }: Listed) =>
  running
    ? { name, running, url, kubeconfig, dataDirectory, log, pid }
    : { name, running, kubeconfig, dataDirectory, log }

interface Listed {
  readonly record: ReturnType<ClusterRecords['list']>[number]
  readonly running: boolean
  readonly log: string
}

const print = (...lines: readonly string[]): void => {
  for (const line of lines) process.stdout.write(`${line}\n`)
}
