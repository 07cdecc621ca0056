/**
 * `t8s why`: says why somebody may do something, why an object is kept or goes, why a namespace does not, and where a
 * pod can go. Works against any Kubernetes.
 */
import { createInterface } from 'node:readline/promises'
import { Command, Option } from 'commander'
import { clusterEnvironment, clusterOrder } from '../../kubeconfig/find-cluster.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { repeated } from '../flags/repeated.ts'
import type { WhyServer } from './server.ts'

interface ContextFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

interface WhyFlags extends ContextFlags {
  readonly namespace?: string
  readonly allNamespaces?: boolean
  readonly asGroup?: readonly string[]
  readonly subresource?: string
  readonly name?: string
}

interface ObjectFlags extends ContextFlags {
  readonly namespace?: string
}

interface NamespaceFlags extends ContextFlags {
  readonly fix?: boolean
}

interface PodFlags extends ContextFlags {
  readonly namespace?: string
  readonly config?: string
  readonly output?: 'json'
}

const examples = `
Examples:
  t8s why can-i jane list pods                                 in the namespace of the context
  t8s why can-i jane delete deployments.apps -n shop --as-group developers
  t8s why can-i jane get pods/log -n shop
  t8s why can-i jane get secrets -n shop --name tls
  t8s why can-i jane list nodes
  t8s why can-i jane list pods -A                              in all of the cluster
  t8s why can-i system:serviceaccount:shop:robot create pods -n shop
  t8s why can-i jane get /metrics                              a path that is no resource

It reads roles and bindings, so it needs the administrator's kubeconfig: --kubeconfig, else ${clusterOrder}.
It exits with 0 for yes and 1 for no.`

const podExamples = `
Examples:
  t8s why pod web-5c7f -n shop                  which nodes refuse it and why, or which scores they get
  t8s why pod web-5c7f --config scheduler.yaml  by the profiles of a KubeSchedulerConfiguration
  t8s why pod web-5c7f -o json                  all nodes, for programs

The scheduler's own plug-ins are asked, on this machine, about what the API server shows now; nothing is written. A pod that has a node
already is looked at as if it had none; one with gates as if they were lifted. Extenders are not asked.
It needs the administrator's kubeconfig: --kubeconfig, else ${clusterOrder}.
It exits with 0 if the pod has a node or fits on one, and with 1 if it does not.`

export function whyCommand(): Command {
  const why = new Command('why').description(
    'explain what is decided: rights, deletions, namespaces that do not go away, where pods can go',
  )
  why
    .command('can-i')
    .argument('<USER>', 'a user, or a service account as system:serviceaccount:NAMESPACE:NAME')
    .argument('<VERB>', 'get, list, watch, create, update, patch, delete, …')
    .argument(
      '<RESOURCE>',
      'a resource as kubectl knows it (pods, deploy, deployments.apps, pods/log), or a path (/metrics)',
    )
    .description('say why a user may do something, or what is missing')
    .addOption(new Option('-n, --namespace <NAME>', 'the namespace (default: that of the context)'))
    .addOption(new Option('-A, --all-namespaces', 'in all of the cluster').conflicts('namespace'))
    .addOption(new Option('--as-group <GROUP>', 'a group of the user; repeatable').argParser(repeated))
    .addOption(new Option('--subresource <NAME>', 'log, exec, scale, status, …'))
    .addOption(new Option('--name <NAME>', 'one object'))
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addHelpText('after', examples)
    .action(async (user: string, verb: string, resource: string, flags: WhyFlags) => {
      process.exitCode = (await canI(user, verb, resource, flags)) ? 0 : 1
    })
  for (const expected of ['kept', 'deleted'] as const) {
    why
      .command(expected)
      .argument('<KIND>', 'a kind as kubectl knows it (configmap, deploy, crews.example.com)')
      .argument('<NAME>', 'its name')
      .description(
        `say why an object is ${expected}: its owners, its dependents, its finalizers; exits with 0 if it is`,
      )
      .addOption(new Option('-n, --namespace <NAME>', 'the namespace (default: that of the context)'))
      .addOption(kubeconfigOption())
      .addOption(contextOption())
      .action(async (kind: string, name: string, flags: ObjectFlags) => {
        const isKept = await object(kind, name, flags)
        process.exitCode = isKept === (expected === 'kept') ? 0 : 1
      })
  }
  why
    .command('namespace')
    .argument('<NAME>', 'its name')
    .description('say what holds a namespace that does not go away, and what to do')
    .addOption(new Option('--fix', 'do what is safe of it, after asking'))
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .action((name: string, flags: NamespaceFlags) => namespace(name, flags))
  why
    .command('pod')
    .argument('<NAME>', 'its name')
    .description(
      'say, node by node, why a pod can or cannot go there: what refuses it, what would help, which scores it gets',
    )
    .addOption(new Option('-n, --namespace <NAME>', 'the namespace (default: that of the context)'))
    .addOption(new Option('-o, --output <FORMAT>', 'all of it, for programs').choices(['json']))
    .addOption(
      new Option('--config <FILE>', "the scheduler's KubeSchedulerConfiguration (default: upstream's profile)"),
    )
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addHelpText('after', podExamples)
    .action(async (name: string, flags: PodFlags) => {
      process.exitCode = (await pod(name, flags)) ? 0 : 1
    })
  return why
}

const kubeconfigOption = (): Option =>
  new Option('--kubeconfig <FILE>', `the administrator's kubeconfig (default: ${clusterOrder})`)
const contextOption = (): Option => new Option('--context <NAME>', 'a context of it (default: the current one)')

/** Calls `ask` with the server of a context, and the context's namespace. */
async function atServer<T>(flags: ContextFlags, ask: (server: WhyServer, namespace: string) => Promise<T>): Promise<T> {
  const [{ kubeconfigFiles, readContext }, { WhyServer }] = await Promise.all([
    import('../../kubeconfig/read-context.ts'),
    import('./server.ts'),
  ])
  const environment = await clusterEnvironment(flags)
  const connection = await readContext(kubeconfigFiles(environment, flags.kubeconfig), flags.context)
  const server = new WhyServer(connection)
  try {
    return await ask(server, connection.namespace)
  } finally {
    server.close()
  }
}

async function object(kind: string, name: string, flags: ObjectFlags): Promise<boolean> {
  const [{ objectFacts }, { explainObject: explain }] = await Promise.all([
    import('./object.ts'),
    import('../../controllers/garbage-collection/explain/explain-object.ts'),
  ])
  return atServer(flags, async (server, usual) => {
    const facts = await objectFacts(server, { kind, name, namespace: flags.namespace ?? usual })
    if (typeof facts === 'string') {
      print([`there is no ${facts}: it has gone, or never was`])
      return false
    }
    const { isKept, lines } = explain(facts)
    print(lines)
    return isKept
  })
}

async function namespace(name: string, flags: NamespaceFlags): Promise<void> {
  const [{ namespaceFacts, deleteApiService }, { explainNamespace }] = await Promise.all([
    import('./namespace.ts'),
    import('../../controllers/namespaces/explain/explain-namespace.ts'),
  ])
  await atServer(flags, async (server) => {
    const facts = await namespaceFacts(server, name)
    if (!facts) throw new ExplainedError(`there is no namespace ${name}: it has gone, or never was`)
    const { lines, deletable } = explainNamespace(facts)
    print(lines)
    if (!flags.fix) return
    if (deletable.length === 0) print(['', 'There is nothing that could be done without asking somebody who knows.'])
    else
      for await (const service of agreed(deletable, (name) => `delete APIService ${name}? [y/N] `)) {
        await deleteApiService(server, service)
        print([`APIService ${service} is deleted`])
      }
  })
}

async function pod(name: string, { output, ...flags }: PodFlags): Promise<boolean> {
  const [{ judgePod }, { explainPod, podVerdictData }, { nodeProblem }] = await Promise.all([
    import('./pod.ts'),
    import('../../scheduler/why/explain.ts'),
    import('../../controllers/nodes/explain/node-problem.ts'),
  ])
  const { pod, verdict, profile } = await judgePod({ name, ...flags })
  const { isPlaceable, lines } = explainPod(pod, verdict, profile)
  const place = verdict.nodes.find(({ node }) => node.name === pod.spec?.nodeName)?.node.node
  const { lines: troubles = [], ...trouble } = (place && nodeProblem(pod, place)) || {}
  const [headline = '', ...rest] = lines
  if (output === 'json')
    print([
      JSON.stringify(
        { ...podVerdictData(pod, verdict, profile), ...(troubles.length > 0 && { nodeTrouble: trouble }) },
        null,
        2,
      ),
    ])
  else print([headline, ...troubles.map((line) => `  ${line}`), ...rest])
  return isPlaceable
}

/** Asks about each at the terminal, and yields those that somebody agrees to. Whoever says nothing does not agree. */
async function* agreed(all: readonly string[], question: (one: string) => string): AsyncGenerator<string> {
  const terminal = createInterface({ input: process.stdin })
  const answers = terminal[Symbol.asyncIterator]()
  try {
    for (const one of all) {
      process.stdout.write(question(one))
      const { value, done } = await answers.next()
      if (done) return
      if (/^y(es)?$/i.test(value.trim())) yield one
    }
  } finally {
    terminal.close()
  }
}

const print = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)

async function canI(user: string, verb: string, resource: string, flags: WhyFlags): Promise<boolean> {
  const [{ question, userOf }, { explain }, { answerText }] = await Promise.all([
    import('./question.ts'),
    import('../../apiserver/authorization/rbac/explain.ts'),
    import('./text.ts'),
  ])
  return atServer(flags, async (server, usual) => {
    const { asked, notes } = await question(server, usual, { verb, resource, ...flags })
    const who = userOf(user, flags.asGroup ?? [])
    const [roles, verdict] = await Promise.all([server.roles(), server.verdict(who.name, who.groups, asked)])
    process.stdout.write(answerText({ user: who, asked, verdict, explanation: explain(roles, who, asked), notes }))
    return verdict.allowed
  })
}
