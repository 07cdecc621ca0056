import assert from 'node:assert/strict'
import test from 'node:test'
import { imagePullPolicy } from './image.ts'

const sha256 = `sha256:${'0123456789abcdef'.repeat(4)}`

test('imagePullPolicy defaults to Always for the tag latest, and to IfNotPresent for others', () => {
  const cases: [image: string, policy: string][] = [
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['registry.example.com:5000/team/app', 'Always'],
    ['localhost/app', 'Always'],
    [`app:latest@${sha256}`, 'Always'],
    ['nginx:1.25', 'IfNotPresent'],
    ['registry.example.com:5000/team/app:v1', 'IfNotPresent'],
    [`app@${sha256}`, 'IfNotPresent'],
    [`app:v1@${sha256}`, 'IfNotPresent'],
    ['', 'IfNotPresent'],
  ]
  for (const [image, policy] of cases) assert.equal(imagePullPolicy(image), policy, image)
})

test('imagePullPolicy of an invalid reference defaults to IfNotPresent', () => {
  for (const image of [
    '<YOUR-CONTAINER>',
    'https://registry.example.com/app',
    'docker://app',
    'Nginx',
    'team/App:latest',
    'a'.repeat(64),
    'app@sha256:0123456789abcdef0123456789abcdef',
    `app:latest@md5:${'0'.repeat(32)}`,
    `app/${'a'.repeat(2000)}`,
  ])
    assert.equal(imagePullPolicy(image), 'IfNotPresent', image)
})
