/** `t8s ingress`: only the ingress proxy, for any API server. */
import { Command } from 'commander'
import { clusterEnvironment } from '../../../../kubeconfig/find-cluster.ts'
import { tuneAfterStart } from '../../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import { type ContextFlags, contextFlags } from '../../../flags/context-flags.ts'
import { clusterIngress, type IngressFlags, ingressFlags } from '../../../flags/ingress-flags.ts'
import { stopSignal } from '../../../running/stop-signal.ts'

const examples = `
Examples:
  t8s ingress --kubeconfig admin.conf
  t8s ingress --ingress-address 0.0.0.0 --ingress-http-port 8080 --ingress-https-port 8443
  t8s ingress --ingress-access-log --ingress-metrics-port 10254
  kubectl create ingress web --rule='web.example.com/*=web:80'
  curl -H 'Host: web.example.com' http://127.0.0.1:8080/

It serves Ingresses and Gateways of the classes t8s, which it creates. It sends requests to the addresses of pods, so
this machine must reach them, as nodes do.`

export function ingressCommand(): Command {
  const command = new Command('ingress')
    .description('serve Ingresses and the Gateway API by a reverse proxy, for any API server')
    .addHelpText('after', examples)
    .action((given: IngressFlags & ContextFlags) => serveIngress(given))
  for (const flag of [...contextFlags(), ...ingressFlags()]) command.addOption(flag)
  return command
}

async function serveIngress(given: IngressFlags & ContextFlags): Promise<void> {
  const stopping = stopSignal()
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  const [{ loadAccess }, { runIngress }, { ingressOptions }] = await Promise.all([
    import('../../../../client/index.ts'),
    import('../../../../network/ingress/ingress.ts'),
    import('../../../../cluster/ingress/index.ts'),
  ])
  const access = await loadAccess({ ...given, environment: await clusterEnvironment(given) })
  const running = runIngress(ingressOptions(await clusterIngress(given)), access, print)
  try {
    const end = await Promise.race([running.started.then(() => undefined), stopping.requested])
    if (end === undefined) {
      surviveErrors(print)
      tuneAfterStart()
      await stopping.requested
    }
  } finally {
    await running.stop()
  }
  print('stopped')
}
