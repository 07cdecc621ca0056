/** kubectl exec -it, attach -it and debug on a real terminal, which tmux provides. Needs root. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testTerminal, withoutTmux } from '../../config/tmux.ts'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { reachable } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { images } from '../support/runtimes/test-images.ts'
import { TestNode } from '../support/test-node.ts'
import { protocolsOf } from './protocols.ts'

await inNamespaces(import.meta.filename, async () => {
  const node = await TestNode.start()
  const cluster = reachable({ after }, node.cluster)
  const program = installedKubectls().at(-1)!
  const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
  const web = await node.create({
    name: 'web',
    containers: [{ name: 'main', image: images.busybox, command: ['sh'], stdin: true, tty: true }],
  })
  await node.running(web)
  const environment = { PATH: process.env.PATH, HOME: cluster.folder, KUBECONFIG: cluster.kubeconfigFile }
  const home = { folder: cluster.folder, environment }

  for (const { name, env } of protocolsOf(program))
    test(`${name}: a command sees the size of the terminal and its changes`, { skip: withoutTmux }, async (t) => {
      const terminal = await testTerminal(t, { ...home, environment: { ...environment, ...env } })
      const runs = async (line: string, shown: RegExp): Promise<void> => {
        terminal.types(line)
        terminal.presses('Enter')
        await terminal.shows(shown)
      }
      await runs(`${program.path} exec -it web -- sh`, /^\/ #$/m)
      await runs('stty size', /^30 120$/m)
      terminal.resizes(100, 25)
      await waitFor(
        'the new size',
        async () => {
          terminal.types('stty size')
          terminal.presses('Enter')
          return /^25 100$/m.test(terminal.screen())
        },
        { everyMs: 300 },
      )
      await runs('sleep 1000', /sleep 1000/)
      terminal.presses('C-c')
      await runs('exit 9', /command terminated with exit code 9/)
      await runs(`${program.path} attach -it web`, /try pressing enter/)
      await runs('echo $((40 + 2))', /^42/m)
      terminal.presses('C-p', 'C-q')
    })

  test('debug starts an ephemeral container that sees the processes of its target', async () => {
    const started = await kubectl.run(
      `debug web --image=${images.busybox} --target=main -c debugger --attach=true -- sh -c 'sleep 1; ps; echo done'`,
    )
    assert.equal(started.code, 0, started.stderr)
    assert.match(await kubectl.ok('logs web -c debugger'), /\bsh\n[\s\S]*done\n/)
    const pod = await node.read(web)
    assert.equal(pod.status?.ephemeralContainerStatuses?.[0]?.name, 'debugger')
  })

  test('debug of a node shows its files', () => testNodeDebug(kubectl))
})

async function testNodeDebug(kubectl: Kubectl): Promise<void> {
  const { stdout, stderr, code } = await kubectl.run(
    `debug node/n1 --image=${images.busybox} --attach=true -- sh -c 'sleep 1; ls /host/usr/bin/nsenter'`,
  )
  assert.match(`${stdout}${stderr}`, /Creating debugging pod node-debugger-n1-/)
  const [, name = ''] = /pod (node-debugger-n1-\S+)/.exec(`${stdout}${stderr}`) ?? []
  const output = (): Promise<string> => kubectl.ok(`logs ${name}`)
  await waitFor(`its output, after the exit code ${code}`, async () => /\/usr\/bin\/nsenter/.test(await output()))
}
