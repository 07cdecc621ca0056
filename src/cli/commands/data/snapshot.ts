/** `t8s snapshot`: saves the data of a cluster, running or not, to a file, and restores it. */
import { resolve } from 'node:path'
import { Command } from 'commander'
import { defaultDataDirectory } from '../../flags/flags.ts'
import { ProgressLine } from '../../terminal/progress-line.ts'

interface Options {
  readonly dataDir?: string
  readonly etcdServers?: string
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
}

export function snapshotCommand(): Command {
  const snapshot = new Command('snapshot').description('save the data of a cluster to a file, or restore it')
  withEtcd(
    snapshot
      .command('save')
      .argument('<FILE>', 'the file to write; it must not exist')
      .description('save the data of a cluster, running or not, to a file')
      .option('--data-dir <DIR>', 'the data directory of the cluster', defaultDataDirectory),
    'save the database of this etcd instead: http://HOST:PORT,…; etcdctl can restore the file, too',
  ).action(save)
  withEtcd(
    snapshot
      .command('restore')
      .argument('<FILE>', 'a file that `t8s snapshot save` or `etcdctl snapshot save` wrote')
      .description('restore a snapshot to a new data directory, or to an empty etcd')
      .option('--data-dir <DIR>', 'the data directory to create; it must not contain data'),
    'restore to this etcd instead: http://HOST:PORT,…',
  ).action(restore)
  return snapshot
}

const withEtcd = (command: Command, servers: string): Command =>
  command
    .option('--etcd-servers <URLS>', servers)
    .option('--etcd-cafile <FILE>', 'the authority of etcd')
    .option('--etcd-certfile <FILE>', 'a client certificate for etcd')
    .option('--etcd-keyfile <FILE>', 'the key of that')

/** The place that the flags name; undefined if they name none. */
async function placeIn({ dataDir, etcdServers, etcdCafile, etcdCertfile, etcdKeyfile }: Options) {
  const { placeOf } = await import('../../../tools/migrate/index.ts')
  if (etcdServers)
    return placeOf(etcdServers.includes('://') ? etcdServers : `etcd://${etcdServers}`, {
      cafile: etcdCafile,
      certfile: etcdCertfile,
      keyfile: etcdKeyfile,
    })
  return dataDir === undefined ? undefined : placeOf(dataDir)
}

async function save(file: string, options: Options): Promise<void> {
  const place = (await placeIn(options))!
  const target = resolve(file)
  if (place.kind === 'directory') {
    const { saveSnapshot } = await import('../../../storage/log/snapshots/save.ts')
    await saveSnapshot(place.store, target)
  } else {
    const { saveSnapshotOf } = await import('../../../tools/migrate/snapshots.ts')
    const progress = new ProgressLine(process.stderr)
    await saveSnapshotOf(place, target, (written, all) => progress.showSteps('bytes', written, all)).finally(() =>
      progress.end(),
    )
  }
  process.stdout.write(`saved to ${target}\n`)
}

async function restore(file: string, options: Options): Promise<void> {
  const [{ restoreSnapshotTo }, { showPlace }, { ExplainedError }] = await Promise.all([
    import('../../../tools/migrate/snapshots.ts'),
    import('../../../tools/migrate/index.ts'),
    import('../../../lib/explained-error.ts'),
  ])
  const place = await placeIn(options)
  if (!place) throw new ExplainedError('say where to restore it: --data-dir DIR, or --etcd-servers HOST:PORT')
  const progress = new ProgressLine(process.stderr)
  await restoreSnapshotTo(resolve(file), place, (...step) => progress.showSteps(...step)).finally(() => progress.end())
  process.stdout.write(`restored to ${showPlace(place)}\n`)
  if (place.kind === 'directory') process.stdout.write(`start it with: t8s up --data-dir ${place.path}\n`)
}
