/** `t8s snapshot`: saves the data of a cluster, running or not, to a file, and restores it to a new data directory. */
import { resolve } from 'node:path'
import { Command } from 'commander'
import { defaultDataDirectory } from '../flags/flags.ts'

export function snapshotCommand(): Command {
  const snapshot = new Command('snapshot').description('save the data of a cluster to a file, or restore it')
  snapshot
    .command('save')
    .argument('<FILE>', 'the file to write; it must not exist')
    .description('save the data of a cluster, running or not, to a file')
    .option('--data-dir <DIR>', 'the data directory of the cluster', defaultDataDirectory)
    .action(async (file: string, { dataDir }: { dataDir: string }) => {
      const [{ saveSnapshot }, { dataDirectoryPaths }] = await Promise.all([
        import('../../storage/log/snapshots/snapshot.ts'),
        import('../../cluster/data-directory.ts'),
      ])
      await saveSnapshot(dataDirectoryPaths(dataDir).store, resolve(file))
      process.stdout.write(`saved to ${resolve(file)}\n`)
    })
  snapshot
    .command('restore')
    .argument('<FILE>', 'a file that `t8s snapshot save` wrote')
    .description('create a new data directory from a snapshot')
    .requiredOption('--data-dir <DIR>', 'the data directory to create; it must not contain data')
    .action(async (file: string, { dataDir }: { dataDir: string }) => {
      const [{ restoreSnapshot }, { dataDirectory }] = await Promise.all([
        import('../../storage/log/snapshots/snapshot.ts'),
        import('../../cluster/data-directory.ts'),
      ])
      const { path, store } = dataDirectory(dataDir)
      await restoreSnapshot(resolve(file), store)
      process.stdout.write(`restored to ${path}\nstart it with: t8s up --data-dir ${path}\n`)
    })
  return snapshot
}
