/**
 * `t8s why`: explains permissions, why an object is kept or deleted, why a namespace is stuck, where a pod can be
 * scheduled, and which network policies allow a connection. Works with any Kubernetes.
 */
import { createInterface } from 'node:readline/promises'
import { Command, Option } from 'commander'
import { clusterEnvironment, clusterOrder } from '../../kubeconfig/find-cluster.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { repeated } from '../flags/repeated.ts'
import { wrapped } from '../terminal/wrap.ts'
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
  t8s why can-i jane list pods -A                              in all namespaces
  t8s why can-i system:serviceaccount:shop:robot create pods -n shop
  t8s why can-i jane get /metrics                              a non-resource path

It reads roles and bindings, so it needs the administrator's kubeconfig: --kubeconfig, else ${clusterOrder}.
The exit code is 0 for yes and 1 for no.`

const podExamples = `
Examples:
  t8s why pod web-5c7f -n shop                  which nodes reject it and why, or their scores
  t8s why pod web-5c7f --config scheduler.yaml  with the profiles of a KubeSchedulerConfiguration
  t8s why pod web-5c7f -o json                  all nodes, for programs

It runs the scheduler's plugins on this machine with the current state of the API server, and writes nothing. A pod that
has a node is treated as if it had none, a pod with scheduling gates as if it had no gates. Extenders are not called.
It needs the administrator's kubeconfig: --kubeconfig, else ${clusterOrder}.
The exit code is 0 if the pod has a node or fits on one, else 1.`

const networkExamples = `
Examples:
  t8s why network web → db:5432 -n shop          may the pod web reach the pod db on TCP 5432?
  t8s why network shop/web shop/db:sql           a port by its name, pods of other namespaces
  t8s why network web to dns:53/udp              UDP

It reads pods, namespaces and network policies, also those of administrators, and shows what they say; whether the
cluster's network brings them into effect, it does not know. Packets to a Service are seen with the address of an
endpoint: name its pods.
It needs a kubeconfig: --kubeconfig, else ${clusterOrder}.
The exit code is 0 if the connection is allowed, else 1.`

export function whyCommand(): Command {
  const why = new Command('why').description(
    'explain permissions, deletions, stuck namespaces, where pods can be scheduled, and network policies',
  )
  const commands = [
    canICommand(),
    objectCommand('kept'),
    objectCommand('deleted'),
    namespaceCommand(),
    podCommand(),
    networkCommand(),
  ]
  for (const command of commands) why.addCommand(command)
  return why
}

const canICommand = (): Command =>
  new Command('can-i')
    .argument('<USER>', 'a user, or a service account as system:serviceaccount:NAMESPACE:NAME')
    .argument('<VERB>', 'get, list, watch, create, update, patch, delete, …')
    .argument('<RESOURCE>', 'a resource as in kubectl (pods, deploy, deployments.apps, pods/log), or a path (/metrics)')
    .description('explain why a user is allowed to do something, or what is missing')
    .addOption(namespaceOption())
    .addOption(new Option('-A, --all-namespaces', 'in all namespaces').conflicts('namespace'))
    .addOption(new Option('--as-group <GROUP>', 'a group of the user; repeatable').argParser(repeated))
    .addOption(new Option('--subresource <NAME>', 'log, exec, scale, status, …'))
    .addOption(new Option('--name <NAME>', 'one object'))
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addHelpText('after', examples)
    .action(async (user: string, verb: string, resource: string, flags: WhyFlags) => {
      process.exitCode = (await canI(user, verb, resource, flags)) ? 0 : 1
    })

const objectCommand = (expected: 'kept' | 'deleted'): Command =>
  new Command(expected)
    .argument('<KIND>', 'a kind as in kubectl (configmap, deploy, crews.example.com)')
    .argument('<NAME>', 'its name')
    .description(`explain why an object is ${expected}: its owners, dependents and finalizers; exits with 0 if it is`)
    .addOption(namespaceOption())
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .action(async (kind: string, name: string, flags: ObjectFlags) => {
      const isKept = await object(kind, name, flags)
      process.exitCode = isKept === (expected === 'kept') ? 0 : 1
    })

const namespaceCommand = (): Command =>
  new Command('namespace')
    .argument('<NAME>', 'its name')
    .description('explain what blocks the deletion of a namespace, and what to do')
    .addOption(new Option('--fix', 'apply the safe steps, after a prompt'))
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .action((name: string, flags: NamespaceFlags) => namespace(name, flags))

const podCommand = (): Command =>
  new Command('pod')
    .argument('<NAME>', 'its name')
    .description(
      'explain for each node whether a pod can be scheduled there: what rejects it, what would help, and the scores',
    )
    .addOption(namespaceOption())
    .addOption(new Option('-o, --output <FORMAT>', 'all details, machine-readable').choices(['json']))
    .addOption(
      new Option('--config <FILE>', "the scheduler's KubeSchedulerConfiguration (default: upstream's profile)"),
    )
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addHelpText('after', podExamples)
    .action(async (name: string, flags: PodFlags) => {
      process.exitCode = (await pod(name, flags)) ? 0 : 1
    })

const networkCommand = (): Command =>
  new Command('network')
    .argument('<PODS...>', 'POD → POD:PORT, each with its namespace before a slash if it has another one')
    .description('explain which network policies allow a connection between two pods, and what the others miss')
    .addOption(namespaceOption())
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addHelpText('after', networkExamples)
    .action(async (words: readonly string[], flags: ObjectFlags) => {
      process.exitCode = (await network(words, flags)) ? 0 : 1
    })

const namespaceOption = (): Option =>
  new Option('-n, --namespace <NAME>', 'the namespace (default: that of the context)')
const kubeconfigOption = (): Option =>
  new Option('--kubeconfig <FILE>', `the administrator's kubeconfig (default: ${clusterOrder})`)
const contextOption = (): Option => new Option('--context <NAME>', 'a context of it (default: the current one)')

/** Calls `use` with the server and the namespace of a context. */
async function withServer<T>(
  flags: ContextFlags,
  use: (server: WhyServer, namespace: string) => Promise<T>,
): Promise<T> {
  const [{ kubeconfigFiles, readContext }, { WhyServer }] = await Promise.all([
    import('../../kubeconfig/read-context.ts'),
    import('./server.ts'),
  ])
  const environment = await clusterEnvironment(flags)
  const connection = await readContext(kubeconfigFiles(environment, flags.kubeconfig), flags.context)
  const server = new WhyServer(connection)
  try {
    return await use(server, connection.namespace)
  } finally {
    server.close()
  }
}

async function object(kind: string, name: string, flags: ObjectFlags): Promise<boolean> {
  const [{ objectFacts }, { explainObject: explain }] = await Promise.all([
    import('./object.ts'),
    import('../../controllers/garbage-collection/explain/explain-object.ts'),
  ])
  return withServer(flags, async (server, defaultNamespace) => {
    const facts = await objectFacts(server, { kind, name, namespace: flags.namespace ?? defaultNamespace })
    if (typeof facts === 'string') {
      print([`there is no ${facts}: it was deleted or never existed`])
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
  await withServer(flags, async (server) => {
    const facts = await namespaceFacts(server, name)
    if (!facts) throw new ExplainedError(`there is no namespace ${name}: it was deleted or never existed`)
    const { lines, deletable } = explainNamespace(facts)
    print(lines)
    if (!flags.fix) return
    if (deletable.length === 0) print(['', 'There is no step that is safe to apply automatically.'])
    else
      for await (const service of confirmed(deletable, (name) => `delete APIService ${name}? [y/N] `)) {
        await deleteApiService(server, service)
        print([`APIService ${service} was deleted`])
      }
  })
}

/** Words between the pods. */
const arrows: ReadonlySet<string> = new Set(['→', '->', 'to'])

async function network(words: readonly string[], flags: ObjectFlags): Promise<boolean> {
  const [from, to, ...others] = words.filter((word) => !arrows.has(word))
  if (from === undefined || to === undefined || others.length > 0)
    throw new ExplainedError('name two pods, and the port of the second: t8s why network web → db:5432')
  const [{ networkFacts }, { explainConnection }, { verdictLines }] = await Promise.all([
    import('./network.ts'),
    import('../../network/policy/explain/explain-connection.ts'),
    import('../../network/policy/explain/verdict-text.ts'),
  ])
  return withServer(flags, async (server, defaultNamespace) => {
    const namespace = flags.namespace ?? defaultNamespace
    const { objects, asked, unread } = await networkFacts(server, { from, to, namespace })
    const verdict = explainConnection(objects, asked)
    print([...verdictLines(asked, verdict), ...unread.map((reason) => `  ${reason}`)])
    return verdict.isAllowed
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

/** Asks about each item on standard input and yields those that are confirmed. The end of input means no. */
async function* confirmed(all: readonly string[], question: (one: string) => string): AsyncGenerator<string> {
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

const print = (lines: readonly string[]): void => void process.stdout.write(`${lines.map(fitted).join('\n')}\n`)

/** A line that fits on a terminal. Commands stay as they are, to be copied. */
const fitted = (line: string): string =>
  process.stdout.isTTY && !/\b(?:kubectl|t8s) /.test(line) ? wrapped(line, process.stdout.columns) : line

async function canI(user: string, verb: string, resource: string, flags: WhyFlags): Promise<boolean> {
  const [{ parseQuestion, userOf }, { explain }, { answerText }] = await Promise.all([
    import('./question.ts'),
    import('../../apiserver/authorization/rbac/explain.ts'),
    import('./text.ts'),
  ])
  return withServer(flags, async (server, defaultNamespace) => {
    const { question, notes } = await parseQuestion(server, defaultNamespace, { verb, resource, ...flags })
    const subject = userOf(user, flags.asGroup ?? [])
    const [roles, verdict] = await Promise.all([server.roles(), server.verdict(subject.name, subject.groups, question)])
    const text = answerText({ user: subject, question, verdict, explanation: explain(roles, subject, question), notes })
    print(text.trimEnd().split('\n'))
    return verdict.allowed
  })
}
