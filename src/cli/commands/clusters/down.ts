/** `t8s down`: stops clusters that `t8s up --detach` has started. */
import { rmSync } from 'node:fs'
import { Command, Option } from 'commander'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { clusterName, dataDirectoryOf, defaultName } from '../../detached/cluster-names.ts'
import { type ClusterRecord, ClusterRecords } from '../../detached/records.ts'
import { stopDetached } from '../../detached/stop-detached.ts'

const examples = `
Examples:
  t8s down                     stop the cluster without a name; t8s up --detach starts it again
  t8s down --name dev
  t8s down --all
  t8s down --name dev --delete delete its data, too`

interface DownFlags {
  readonly name?: string
  readonly all?: boolean
  readonly delete?: boolean
}

export const downCommand = (): Command =>
  new Command('down')
    .description('stop a cluster that t8s up --detach has started')
    .addOption(
      new Option('--name <NAME>', `the name of the cluster (default: ${defaultName})`)
        .argParser(clusterName)
        .conflicts('all'),
    )
    .option('--all', 'stop all clusters')
    .option('--delete', 'also forget the cluster, and delete its data if they are where --name has them')
    .addHelpText('after', examples)
    .action(down)

async function down({ name = defaultName, all, delete: isDeletion = false }: DownFlags): Promise<void> {
  const records = new ClusterRecords(process.env)
  const record = records.read(name)
  if (!all && !record)
    throw new ExplainedError(`no cluster ${name} was started with t8s up --detach: t8s list shows the clusters`)
  const chosen = all ? records.list() : [record!]
  const results = await Promise.allSettled(chosen.map((one) => end(one, records, isDeletion)))
  for (const result of results) if (result.status === 'rejected') throw result.reason
  if (chosen.length === 0) print('no clusters')
}

async function end(record: ClusterRecord, records: ClusterRecords, isDeletion: boolean): Promise<void> {
  const { name, dataDirectory } = record
  print(`${name} ${(await stopDetached(record)) ? 'stopped' : 'had stopped already'}`)
  if (!isDeletion) return
  records.delete(name)
  if (dataDirectory !== dataDirectoryOf(name, process.env)) print(`the data of ${name} remain in ${dataDirectory}`)
  else rmSync(dataDirectory, { recursive: true, force: true })
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
