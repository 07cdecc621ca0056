/** `t8s explain-panic`: reads the output of a Go program that crashed, and explains the crash. */
import { Command, Option } from 'commander'
import { clusterOrder } from '../../kubeconfig/find-cluster.ts'
import type { ExplainFlags } from '../explain-panic/index.ts'
import { repeated } from '../flags/repeated.ts'

const examples = `
Examples:
  t8s explain-panic crash.log                              a file, which may contain other lines
  kubectl logs web-7f9 --previous | t8s explain-panic
  t8s explain-panic --pod web-7f9 --previous -n shop       the same through the API
  t8s explain-panic crash.log --src ~/shop                 shows the line, and arguments by name
  t8s explain-panic crash.log --func 'func (c *Cart) Add(id string, count int) error'
  curl -s localhost:6060/debug/pprof/goroutine?debug=2 | t8s explain-panic
  t8s explain-panic crash.log -o json | jq '.crashes[].kind'

Colours, timestamps, pod names and JSON around the lines are removed.`

export function explainPanicCommand(): Command {
  return new Command('explain-panic')
    .argument('[FILE]', "the program's output (default: the standard input)")
    .description('explain why and where a Go program crashed, and what its goroutines wait for')
    .addOption(
      new Option('--func <SIGNATURE>', 'decode the argument words of a call with this signature; repeatable').argParser(
        repeated,
      ),
    )
    .addOption(new Option('--src <DIR>', "the program's source folder, for signatures and lines"))
    .addOption(
      new Option(
        '--abi <NAME>',
        'the calling convention: stack (Go 1.16 and older) or register (default: detected from the output)',
      ).choices(['stack', 'register']),
    )
    .addOption(new Option('--pod <NAME>', 'read the log of a pod'))
    .addOption(new Option('-c, --container <NAME>', 'the container, if the pod has several'))
    .addOption(new Option('-p, --previous', 'the log of the previous container, before the restart'))
    .addOption(new Option('-n, --namespace <NAME>', 'the namespace (default: that of the context)'))
    .addOption(new Option('--kubeconfig <FILE>', `a kubeconfig (default: ${clusterOrder})`))
    .addOption(new Option('--context <NAME>', 'a context of it (default: the current one)'))
    .addOption(new Option('--all', 'all crashes, goroutines and frames'))
    .addOption(new Option('-o, --output <FORMAT>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', examples)
    .action(async (file: string | undefined, flags: ExplainFlags) => {
      const { explainPanic } = await import('../explain-panic/index.ts')
      process.stdout.write(await explainPanic(file, flags))
    })
}
