/** The HTTP servers of an agent of network policies: health and metrics. */
import { PlainServer } from '../../kubelet/server/plain-server.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { PolicyAgent } from '../../network/policy/policy-agent.ts'
import type { Page } from '../../node/server/served-nodes.ts'

const plain = 'text/plain; charset=utf-8'

/** `IP:PORT`; empty: it is not served. */
export interface PolicyAddresses {
  readonly healthzBindAddress: string
  readonly metricsBindAddress: string
}

/** Serves until the end of the lifetime. Rejects with an ExplainedError for an address that is not available. */
export async function servePolicyPages(
  { healthzBindAddress, metricsBindAddress }: PolicyAddresses,
  agent: Pick<PolicyAgent, 'problem'>,
  registry: MetricsRegistry,
  lifetime: Lifetime,
): Promise<void> {
  const health = (): Page =>
    agent.problem === undefined
      ? { type: plain, text: 'ok' }
      : { status: 503, type: plain, text: `network policies are not in effect: ${agent.problem}` }
  const metrics = (): Page => ({ type: 'text/plain; version=0.0.4; charset=utf-8', text: registry.render() })
  await serve('--healthz-bind-address', healthzBindAddress, { '/healthz': health, '/livez': health }, lifetime)
  await serve('--metrics-bind-address', metricsBindAddress, { '/metrics': metrics }, lifetime)
}

async function serve(
  flag: string,
  bindAddress: string,
  pages: Readonly<Record<string, () => Page>>,
  lifetime: Lifetime,
): Promise<void> {
  if (bindAddress === '') return
  const [, six, four = '', port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(bindAddress) ?? []
  if (port === '') throw new ExplainedError(`${flag} ${bindAddress} is not an address: write it like 127.0.0.1:10261`)
  const server = new PlainServer(async ({ path }) => (Object.hasOwn(pages, path) ? pages[path]?.() : undefined))
  try {
    await server.listen(six ?? four, Number(port))
  } catch (error) {
    throw new ExplainedError(`cannot listen on ${bindAddress} (choose another with ${flag}): ${reasonOf(error)}`, {
      cause: error,
    })
  }
  lifetime.onEnd(() => server.close())
}
