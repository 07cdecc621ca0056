import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDefaults } from './defaults.ts'
import { checkConfiguration, decodeWritten } from './index.ts'

function parse(fields: object) {
  const configuration = withDefaults(
    decodeWritten({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields }),
  )
  checkConfiguration(configuration)
  return configuration
}

const condition = 'SerializeImagePulls (--serialize-image-pulls) set to false'

for (const [fields, fault] of [
  [{ registryPullQPS: -1 }, 'registryPullQPS (--registry-qps) -1 must not be a negative number'],
  [{ registryBurst: -1 }, 'registryBurst (--registry-burst) -1 must not be a negative number'],
  [{ nodeStatusMaxImages: -2 }, 'nodeStatusMaxImages (--node-status-max-images) -2 must be -1 or greater'],
  [
    { containerLogMonitorInterval: '1s' },
    'containerLogMonitorInterval must be a positive time duration greater than or equal to 3s',
  ],
  [{ maxParallelImagePulls: 0 }, 'maxParallelImagePulls 0 must be a positive number'],
  [
    { serializeImagePulls: true, maxParallelImagePulls: 2 },
    `maxParallelImagePulls cannot be larger than 1 unless ${condition}`,
  ],
  [
    { imagePullCredentialsVerificationPolicy: 'Sometimes' },
    /^invalid configuration: imagePullCredentialsVerificationPolicy "Sometimes" must be one of /,
  ],
  [{ preloadedImagesVerificationAllowlist: ['a/*'] }, /preloadedImagesVerificationAllowlist must be empty with/],
  [
    {
      imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
      preloadedImagesVerificationAllowlist: ['*/a'],
    },
    /preloadedImagesVerificationAllowlist: not a valid wildcard pattern, only patterns ending with '\/\*' are allowed/,
  ],
] as const)
  test(`a configuration with ${JSON.stringify(fields)} is not valid`, () => {
    const message = typeof fault === 'string' ? `invalid configuration: ${fault}` : fault
    assert.throws(() => parse(fields), { message })
  })

test('several pulls at a time, and an allowlist, are valid', () => {
  const { maxParallelImagePulls, nodeStatusMaxImages } = parse({
    serializeImagePulls: false,
    maxParallelImagePulls: 4,
    imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
    preloadedImagesVerificationAllowlist: ['registry.test/team/*', 'registry.test/app'],
  })
  assert.deepEqual([maxParallelImagePulls, nodeStatusMaxImages], [4, 50])
})
