/** Property names of Object.prototype work in object names, paths, queries, headers and methods like other names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOf, http2Client, json, protocols } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { configMapsPath, podsPath } from '../../support/objects.ts'
import { deploymentsPath, entries, entriesOf, labelKeys, manifest, names, objectNames, ok } from './prototype-names.ts'

test('objects and namespaces may have such names', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  for (const name of objectNames) {
    assert.equal((await client.request('GET', `/api/v1/namespaces/${name}`)).status, 404)
    ok(
      await client.request('POST', '/api/v1/namespaces', {
        body: manifest('Namespace', `"name":"${name}"`, '"spec":{}'),
      }),
      201,
    )
    const path = `/api/v1/namespaces/${name}/configmaps`
    assert.equal((await client.request('GET', `${path}/${name}`)).status, 404)
    ok(await client.request('POST', path, { body: manifest('ConfigMap', `"name":"${name}"`, '"data":{}') }), 201)
    const listed = json<{ items: { metadata: { name: string } }[] }>(
      await client.request('GET', `/api/v1/configmaps?fieldSelector=metadata.name%3D${name}`),
    )
    assert.deepEqual(
      listed.items.map(({ metadata }) => metadata.name),
      [name],
    )
    ok(await client.request('DELETE', `${path}/${name}`))
  }
})

for (const protocol of protocols) {
  test(`paths, queries and headers with such names find nothing (${protocol})`, async (t) => {
    const server = await startTestServer(t)
    const client = clientOf(t, protocol, server)
    const status = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
      (await client.request('GET', path, { headers })).status
    for (const name of names) {
      const missing = [
        '/',
        '/apis/',
        '/apis/apps/',
        '/apis/apps/v1/',
        '/api/',
        '/api/v1/',
        '/api/v1/namespaces/default/',
        '/healthz/',
        '/readyz/',
        '/openapi/v3/',
        '/openapi/v3/apis/',
      ]
      for (const path of missing) assert.equal(await status(path + name), 404, path + name)
      for (const path of [
        `${podsPath}/a/`,
        `${deploymentsPath}/a/`,
        `/api/v1/watch/`,
        `/apis/${name}/v1/`,
        `/apis/apps/${name}/`,
        '/api/v1/namespaces/default/pods/a/status/',
      ])
        assert.notEqual(await status(path + name), 500, path + name)
      assert.equal(await status(`${configMapsPath}?fieldSelector=${name}%3Dx`), 400, name)
      assert.equal(await status(`${podsPath}?fieldSelector=${name}%3Dx`), 400, name)
      assert.equal(await status(`${configMapsPath}?${name}=x&labelSelector=&limit=1`), 200, name)
      assert.equal(await status(configMapsPath, { accept: name }), 406, name)
      assert.equal(await status(configMapsPath, { accept: `application/json;${name}=x` }), 200, name)
      assert.equal(
        await status(configMapsPath, { accept: `application/json;as=${name};g=meta.k8s.io;v=v1, application/json` }),
        200,
        name,
      )
      assert.equal(await status(configMapsPath, { [`x-${name}`]: name }), 200, name)
      assert.equal(
        await status(`${configMapsPath}?continue=${Buffer.from(`{"v":"${name}"}`).toString('base64url')}`),
        400,
        name,
      )
      const posted = await client.request('POST', configMapsPath, { body: '{}', headers: { 'content-type': name } })
      assert.equal(posted.status, 415, name)
      assert.equal(
        (await client.request('PATCH', `${configMapsPath}/a`, { body: '{}', headers: { 'content-type': name } }))
          .status,
        415,
        name,
      )
    }
    const headers = Object.fromEntries(labelKeys.concat('__proto__').map((name) => [`impersonate-extra-${name}`, 'x']))
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const review = await client.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      body,
      headers: { 'impersonate-user': 'constructor', ...headers },
    })
    const { userInfo } = json<{ status: { userInfo: { username: string; extra: object } } }>(review).status
    assert.equal(userInfo.username, 'constructor')
    assert.deepEqual(
      entriesOf(userInfo.extra),
      entries(
        labelKeys.concat('__proto__').map((name) => name.toLowerCase()),
        ['x'],
      ),
    )
    assert.doesNotMatch((await client.request('GET', '/metrics')).bytes.toString(), /\[native code\]|="constructor"/)
    assert.deepEqual(server.logLines, [])
  })
}

test('methods with such names are rejected', async (t) => {
  const server = await startTestServer(t)
  const client = http2Client(t, server)
  for (const name of names)
    for (const path of [
      configMapsPath,
      `${configMapsPath}/a`,
      `${deploymentsPath}/a/scale`,
      `${deploymentsPath}/a/status`,
      `${podsPath}/a/binding`,
      '/apis/authentication.k8s.io/v1/tokenreviews',
    ])
      assert.equal((await client.request(name, path)).status, 405, `${name} ${path}`)
  assert.deepEqual(server.logLines, [])
})
