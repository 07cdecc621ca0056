/** `kubectl expose` and `kubectl describe` of its endpoints. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { waitFor } from '../../support/wait-for.ts'
import { backends } from './backends.ts'

test('every kubectl exposes workloads and pods, and describes their endpoints', async (t) => {
  const b = await backends(t)
  await Promise.all(
    installedKubectls().map(async (program, i) => {
      const kubectl = new Kubectl(program, b.cluster.kubeconfigFile, b.cluster.folder)
      const name = `web-${program.minor}`
      const ip = `10.1.0.${i + 1}`
      await kubectl.ok(`create deployment ${name} --image=i --port=8080`)
      await kubectl.ok(`expose deployment ${name} --port=80 --target-port=8080`, `service/${name} exposed\n`)
      await b.pod(`${name}-0`, { ips: [ip], labels: { app: name } })
      await waitFor(
        'the endpoint',
        async () => (await b.shown(name)) === `${ip}: 8080` && (await b.shownAsEndpoints(name)) === `${ip}: 8080`,
      )
      assert.match(await kubectl.ok(`describe service ${name}`), new RegExp(`Endpoints: +${ip}:8080`))
      assert.match(
        await kubectl.ok(`get endpointslices -l kubernetes.io/service-name=${name}`),
        new RegExp(`${name}-\\w+ +IPv4 +8080 +${ip} `),
      )
      assert.match(await kubectl.ok(`get endpoints ${name} --no-headers`), new RegExp(`^${name} +${ip}:8080 `))
      await kubectl.ok(`expose pod ${name}-0 --name=${name}-headless --cluster-ip=None --port=8080`)
      await waitFor('the headless endpoint', async () => (await b.shown(`${name}-headless`)) === `${ip}: 8080`)
    }),
  )
})
