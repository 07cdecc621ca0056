import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeName, parseImageName, withDefaultTag } from './image-name.ts'

const digest = `sha256:${'0'.repeat(64)}`

for (const [image, complete, tagged] of [
  ['nginx', 'docker.io/library/nginx:latest', 'nginx:latest'],
  ['nginx:1.2', 'docker.io/library/nginx:1.2', 'nginx:1.2'],
  ['me/app', 'docker.io/me/app:latest', 'me/app:latest'],
  ['index.docker.io/nginx', 'docker.io/library/nginx:latest', 'index.docker.io/nginx:latest'],
  ['localhost/app', 'localhost/app:latest', 'localhost/app:latest'],
  ['registry:5000/a/b__c-d', 'registry:5000/a/b__c-d:latest', 'registry:5000/a/b__c-d:latest'],
  ['[::1]:5000/a:b', '[::1]:5000/a:b', '[::1]:5000/a:b'],
  [`quay.io/a@${digest}`, `quay.io/a@${digest}`, `quay.io/a@${digest}`],
  [`quay.io/a:b@${digest}`, `quay.io/a:b@${digest}`, `quay.io/a:b@${digest}`],
] as const)
  test(`the image ${image} is ${complete}`, () => {
    assert.equal(completeName(image), complete)
    assert.equal(withDefaultTag(image), tagged)
  })

for (const [image, reason] of [
  ['', 'invalid reference format'],
  ['Nginx', 'invalid reference format: repository name (library/Nginx) must be lowercase'],
  ['a b', 'invalid reference format'],
  ['nginx:', 'invalid reference format'],
  ['-a', 'invalid reference format'],
  ['a..b', 'invalid reference format'],
  ['FOO/bar', undefined],
  [`nginx@md5:${'0'.repeat(32)}`, 'unsupported digest algorithm'],
  [`nginx@sha256:${'0'.repeat(63)}`, 'invalid checksum digest length'],
  ['a'.repeat(256), 'repository name must not be more than 255 characters'],
  ['a'.repeat(100_000), 'repository name must not be more than 255 characters'],
  ['f'.repeat(64), `invalid repository name (${'f'.repeat(64)}), cannot specify 64-byte hexadecimal strings`],
] as const)
  test(`the image name ${JSON.stringify(image.slice(0, 80))} is ${reason ? 'not valid' : 'valid'}`, () => {
    if (!reason) assert.equal(parseImageName(image).repository, image)
    else
      assert.throws(() => parseImageName(image), {
        message: `couldn't parse image name ${JSON.stringify(image)}: ${reason}`,
      })
  })
