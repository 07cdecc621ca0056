/**
 * Many concurrent large lists, and lists that clients do not read: memory is bounded, and all other lists are answered.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { type AttackedServer, attackedServer, token } from '../support/attacked-server.ts'
import { initialWindowSize, preface, request, requestBlock } from '../support/frames.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'
import { head, rawTls } from '../support/raw.ts'

const path = '/api/v1/namespaces/default/configmaps'
const authorization = `Bearer ${token}`
const clients = 100
/** More than is measured, as machines differ, and less than a copy for each client. */
const maxMB = 700

/** Creates 700 ConfigMaps of 10 KB each. */
async function fill(server: AttackedServer): Promise<void> {
  const session = connect(server.url, { ca: server.ca })
  const create = (i: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        authorization,
        'content-type': 'application/json',
      })
      stream.on('error', reject)
      stream.on('close', resolve)
      stream.resume()
      stream.end(
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `o-${i}`, labels: { a: 'b' } },
          data: { k: 'x'.repeat(10_000) },
        }),
      )
    })
  await Promise.all(Array.from({ length: 700 }, (_, i) => create(i)))
  session.destroy()
}

type Headers = Readonly<Record<string, string>>

/** Sends a GET on a new connection. Resolves with the length of the body. */
const get = {
  'HTTP/1.1': ({ url, ca }: AttackedServer, target: string, headers: Headers): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = httpsRequest(
        url + target,
        { ca, agent: false, headers: { authorization, ...headers } },
        (response) => {
          let length = 0
          response.on('data', (chunk: Buffer) => {
            length += chunk.length
          })
          response.on('end', () => resolve(length))
          response.on('error', reject)
        },
      )
      sent.on('error', reject)
      sent.end()
    }),
  'HTTP/2': ({ url, ca }: AttackedServer, target: string, headers: Headers): Promise<number> =>
    new Promise((resolve, reject) => {
      const session = connect(url, { ca })
      session.on('error', reject)
      const stream = session.request({ ':path': target, authorization, ...headers })
      let length = 0
      stream.on('data', (chunk: Buffer) => {
        length += chunk.length
      })
      stream.on('error', reject)
      stream.on('end', () => {
        session.destroy()
        resolve(length)
      })
    }),
}

const forms: Readonly<Record<string, readonly [path: string, headers: Headers]>> = {
  objects: [path, {}],
  selected: [`${path}?labelSelector=a%3Db`, {}],
  tables: [`${path}?includeObject=Object`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }],
}

for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
  test(`100 concurrent lists of 7 MB are answered without a copy for each (${protocol})`, {
    timeout: 110_000,
  }, async (t) => {
    const server = await attackedServer(t)
    await fill(server)
    for (const [form, [target, headers]] of Object.entries(forms)) {
      t.diagnostic(`${form}:`)
      await whileOthersAreServed(t, server, async () => {
        const lengths = await Promise.all(Array.from({ length: clients }, () => get[protocol](server, target, headers)))
        assert.ok(Math.min(...lengths) > 7e6)
        assert.ok(server.resident() < maxMB)
      })
    }
  })

  test(`lists that clients do not read use bounded memory and are closed (${protocol})`, async (t) => {
    const server = await attackedServer(t, { limits: { idleTimeoutMs: 3000 } })
    await fill(server)
    await whileOthersAreServed(t, server, async () => {
      const target = `${path}?labelSelector=a%3Db`
      const unread = await Promise.all(
        Array.from({ length: clients }, async () => {
          const client = await rawTls(server, protocol === 'HTTP/2' ? 'h2' : 'http/1.1')
          // HTTP/2: the connection is read, but the stream's window stays 0.
          if (protocol === 'HTTP/2')
            client.socket.write(
              Buffer.concat([preface([initialWindowSize, 0]), request(1, requestBlock('GET', target))]),
            )
          else client.socket.pause().write(head('GET', target))
          return client
        }),
      )
      await waitFor('all requests are sent', () => unread.every(({ socket }) => socket.writableLength === 0))
      assert.ok(server.resident() < maxMB)
      if (protocol === 'HTTP/1.1') {
        await waitFor('the connections are closed', () => server.descriptors() < clients)
        for (const { socket } of unread) socket.resume()
      }
      // HTTP/2 sessions left without requests are closed like other idle ones.
      await Promise.all(unread.map(({ closed }) => closed))
    })
  })
}
