/** `t8s migrate`: moves the data of a cluster between a data directory and etcd. */
import { Command } from 'commander'
import type { Place } from '../../../tools/migrate/index.ts'
import { ProgressLine } from '../../terminal/progress-line.ts'

interface MigrateOptions {
  readonly from: string
  readonly to: string
  readonly fromCafile?: string
  readonly fromCertfile?: string
  readonly fromKeyfile?: string
  readonly toCafile?: string
  readonly toCertfile?: string
  readonly toKeyfile?: string
}

const examples = `
Stop the API servers of both before.

Examples:
  t8s migrate --from .t8s --to etcd://127.0.0.1:2379
  t8s migrate --from etcd://10.0.0.1:2379,10.0.0.2:2379 --from-cafile ca.crt --from-certfile client.crt \\
    --from-keyfile client.key --to cluster

Values stay as they are, also encrypted ones: give the other server the same --encryption-provider-config.`

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('move the data of a cluster between a data directory and etcd')
    .requiredOption('--from <PLACE>', 'a data directory, or etcd://HOST:PORT,HOST:PORT[/PREFIX]')
    .requiredOption('--to <PLACE>', 'the same; it must not contain data')
    .option('--from-cafile <FILE>', 'the authority of the etcd of --from')
    .option('--from-certfile <FILE>', 'a client certificate for it')
    .option('--from-keyfile <FILE>', 'the key of that')
    .option('--to-cafile <FILE>', 'the authority of the etcd of --to')
    .option('--to-certfile <FILE>', 'a client certificate for it')
    .option('--to-keyfile <FILE>', 'the key of that')
    .addHelpText('after', examples)
    .action(run)
}

async function run(options: MigrateOptions): Promise<void> {
  const { migrate, placeOf, showPlace } = await import('../../../tools/migrate/index.ts')
  const { fromCafile, fromCertfile, fromKeyfile, toCafile, toCertfile, toKeyfile } = options
  const from = placeOf(options.from, { cafile: fromCafile, certfile: fromCertfile, keyfile: fromKeyfile })
  const to = placeOf(options.to, { cafile: toCafile, certfile: toCertfile, keyfile: toKeyfile })
  process.stdout.write(`copying from ${showPlace(from)} to ${showPlace(to)}\n`)
  const progress = new ProgressLine(process.stderr)
  try {
    const { entries, revision } = await migrate(from, to, (...step) => progress.showSteps(...step))
    progress.end()
    process.stdout.write(`copied ${entries} entries, all are equal; the revision is ${revision} now\n`)
    process.stdout.write(`start it with: ${startOf(to, options)}\n`)
  } finally {
    progress.end()
  }
}

/** The certificates and keys remain in the directory of the source. */
function startOf(to: Place, { from, to: directory }: Pick<MigrateOptions, 'from' | 'to'>): string {
  if (to.kind === 'directory') return `t8s up --data-dir ${directory}`
  const etcd = `--etcd-servers=${to.options.servers.join()}`
  const up = from.startsWith('etcd://') ? '' : `t8s up --data-dir ${from} ${etcd}, or `
  return `${up}t8s apiserver ${etcd}, with its other flags`
}
