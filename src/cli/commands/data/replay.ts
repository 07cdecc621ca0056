/** `t8s replay`: serves a recorded cluster, in which nothing runs, until a signal stops it. */
import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { writeKubeconfig } from '../../../kubeconfig/write.ts'
import { shellWord } from '../../../lib/shell-word.ts'
import { port as parsePort } from '../../flags/flags.ts'
import { stopSignal } from '../../running/stop-signal.ts'

const examples = `
The objects are those of the recording, with their uids, times and resource versions, in memory of this run: clients may
change them, and the next run begins with the recording again. No controller, scheduler, node or webhook runs.

Examples:
  t8s replay production.t8s
  t8s replay production.t8s --secure-port 6443 --controllers deployment,replicaset`

interface ReplayFlags {
  readonly bindAddress: string
  readonly securePort: number
  readonly kubeconfig?: string
  readonly controllers: string
}

export const replayCommand = (): Command =>
  new Command('replay')
    .argument('<FILE>', 'a file that t8s record wrote')
    .description('serve a recorded cluster until Ctrl-C')
    .option('--bind-address <ADDRESS>', 'the address to listen on', '127.0.0.1')
    .addOption(
      new Option('--secure-port <PORT>', 'the port of the API server; 0 for any free port')
        .argParser(parsePort)
        .default(0),
    )
    .option('--kubeconfig <FILE>', "write the administrator's kubeconfig to this file (default: FILE.kubeconfig)")
    .option('--controllers <LIST>', 'the controllers to run, as for t8s up; * for all', '')
    .addHelpText('after', examples)
    .action(run)

async function run(file: string, flags: ReplayFlags): Promise<void> {
  const { requested } = stopSignal()
  const { replay } = await import('../../../tools/recording/replay.ts')
  const { bindAddress, securePort: port, controllers } = flags
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  const served = await replay(file, {
    bindAddress,
    port,
    controllers: controllers.split(',').filter(Boolean),
    log: print,
  })
  try {
    const kubeconfig = resolve(flags.kubeconfig ?? `${file}.kubeconfig`)
    writeKubeconfig(kubeconfig, served.cluster.kubeconfigYaml)
    const { gitVersion, recordedAt } = served.header
    print(`serving ${served.objects} objects, recorded at ${recordedAt} from Kubernetes ${gitVersion}`)
    for (const what of served.omitted) print(`not served: ${what}`)
    print(`serving on ${served.cluster.url}`)
    print(`kubeconfig written to ${kubeconfig}`)
    print(`\n  export KUBECONFIG=${shellWord(kubeconfig)}\n  kubectl get all -A\n\nCtrl-C stops it`)
    print(`stopping after ${await requested}`)
  } finally {
    await served.stop()
  }
}
