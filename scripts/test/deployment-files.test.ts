import { expect } from 'chai'
import { DockerfileParser, type Copy, type From, type Instruction } from 'dockerfile-ast'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { ConfigMap, type IConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Service, type IService } from 'kubernetes-models/v1/Service'
import { Deployment, type IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { parse, parseAllDocuments } from 'yaml'
import type { Config } from '../../specs/index.ts'
import { environmentMembers, environmentVariables } from '../../server/config/environment.ts'
import { parseConfig } from '../../server/config/load.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFile(join(root, path), 'utf8')

/** A tag that says which version: not `latest`, and not a line of versions. */
const exactTag = /^[a-z]+:\d+\.\d+(\.\d+)?[a-z-]*$/

interface ComposeService {
  readonly image: string
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly cap_drop?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

describe('Dockerfile', () => {
  let instructions: Instruction[]
  let stages: From[]
  let last: Instruction[]
  const named = (keyword: string, among = instructions) => among.filter((one) => one.getKeyword() === keyword)
  const words = (instruction: Instruction | undefined) => instruction?.getArguments().map(String) ?? []

  before(async () => {
    const dockerfile = DockerfileParser.parse(await read('Dockerfile'))
    instructions = dockerfile.getInstructions()
    stages = dockerfile.getFROMs()
    last = instructions.slice(instructions.findLastIndex((one) => one.getKeyword() === 'FROM'))
  })

  it('builds every stage on one exact version of Node', () => {
    const images = new Set(stages.map((from) => from.getImage() ?? ''))
    expect([...images]).to.have.length(1)
    for (const image of images) expect(image).to.match(/^node:24\.\d+\.\d+-[a-z]+-slim@sha256:[0-9a-f]{64}$/)
  })

  it('runs as a user without rights, by an entry that gets the signals', () => {
    expect(words(named('USER', last).at(-1))).to.deep.equal(['node'])
    expect(named('ENTRYPOINT', last)[0]?.getArgumentsContent()).to.equal('["node", "dist/scripts/touchstone.js"]')
  })

  it('watches /healthz', () => {
    const [check] = named('HEALTHCHECK', last)
    expect(check?.getArgumentsContent()).to.include('/healthz')
  })

  it('copies what is there, and what .dockerignore lets through', async () => {
    const allowed = new Set(
      (await read('.dockerignore')).split('\n').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : [])),
    )
    const copies = named('COPY') as Copy[]
    const fromContext = copies.filter((copy) => !copy.getFlags().some((flag) => flag.getName() === 'from'))
    const sources = new Set(fromContext.flatMap((copy) => words(copy).slice(0, -1)))
    expect([...sources].sort()).to.deep.equal([...allowed].sort())
    for (const source of sources) expect(existsSync(join(root, source)), source).to.equal(true)
    const names = new Set(stages.map((from) => from.getBuildStage()).filter((name) => name !== null))
    for (const copy of copies.filter((one) => !fromContext.includes(one))) {
      expect(names).to.include(copy.getFlags()[0]?.getValue())
    }
  })

  it('holds no secret, and sets only what the server knows', () => {
    const known = new Set(environmentVariables().map(({ name }) => name))
    const set = named('ENV').flatMap((env) => words(env).map((pair) => pair.split('=')[0] ?? ''))
    for (const name of set.filter((one) => one !== 'NODE_ENV')) expect(known).to.include(name)
    expect(named('ARG')).to.deep.equal([])
  })

  it('installs every package that the server needs, and no chain', async () => {
    const run = named('RUN').map((one) => one.getArgumentsContent() ?? '')
    const edit = /node -e "(.*?)"\s/s.exec(run.find((command) => command.includes('touchstone.packages')) ?? '')?.[1]
    const manifest = JSON.parse(await read('package.json')) as object
    const written: string[] = []
    const modules: Record<string, unknown> = {
      './package.json': manifest,
      fs: { writeFileSync: (_path: string, text: string) => written.push(text) },
    }
    runInNewContext((edit ?? '').replaceAll('\\\n', '\n'), { require: (name: string) => modules[name], JSON })
    const { dependencies, devDependencies } = JSON.parse(written[0] ?? '') as Record<string, Record<string, string>>
    const installed = Object.keys(dependencies ?? {})
    expect(devDependencies).to.equal(undefined)
    expect([...(await importsOf('server')), 'commander'].filter((name) => !installed.includes(name))).to.deep.equal([])
    expect(installed).to.not.include('hardhat').and.not.include('solc')
  })
})

describe('compose.yaml', () => {
  let services: Record<string, ComposeService>

  before(async () => {
    services = (parse(await read('compose.yaml')) as { services: Record<string, ComposeService> }).services
  })

  it('names exact versions, its own as the package has it', async () => {
    for (const { image } of Object.values(services))
      expect(image.replace(/@sha256:[0-9a-f]{64}$/, '')).to.match(exactTag)
    expect(services['database']?.image, 'an image of others').to.match(/@sha256:[0-9a-f]{64}$/)
    const { version } = JSON.parse(await read('package.json')) as { version: string }
    expect(services['server']?.image).to.equal(`touchstone:${version}`)
  })

  it('takes every secret from outside, and insists on it', () => {
    for (const { environment } of Object.values(services)) {
      for (const [name, value] of Object.entries(environment)) {
        if (/KEY|PASSWORD|DATABASE_URL/.test(name)) expect(value, name).to.match(/\$\{\w+:\?[^}]+\}/)
      }
    }
  })

  it('sets only what the server knows', () => {
    const known = [...environmentVariables().map(({ name }) => name), 'TOUCHSTONE_SIGNER_KEYS', 'DATABASE_URL']
    expect(known).to.include.members(Object.keys(services['server']?.environment ?? {}))
  })

  it('waits for a healthy database, and gives the server no rights', () => {
    const { server, database } = services
    expect(server?.depends_on?.['database']?.condition).to.equal('service_healthy')
    expect(database?.healthcheck?.test).to.include('pg_isready')
    expect(database?.ports, 'the database is for the server alone').to.equal(undefined)
    expect(server?.cap_drop).to.deep.equal(['ALL'])
    expect(server?.ports).to.deep.equal(['127.0.0.1:3000:3000'])
  })
})

/** The packages that the sources of a folder import, tests excepted. */
async function importsOf(folder: string): Promise<string[]> {
  const files = (await readdir(join(root, folder), { recursive: true })).filter(
    // Compiles the simulator's contract for who changes it.
    (file) => file.endsWith('.ts') && !/(^|\/)test\/|simulator\/compile\.ts$/.test(file),
  )
  const texts = await Promise.all(files.map((file) => read(join(folder, file))))
  const pattern = /(?:^(?:import|export|\}) .*from |\bimport\(|\.resolve\()'((?:@[^/']+\/)?[^./'][^/']*)/gm
  const names = texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name ?? ''))
  return [...new Set(names)].filter((name) => !name.startsWith('node:'))
}

describe('docs/deployment.md', () => {
  let page: string
  let config: Config
  const figure = (pattern: RegExp) => Number(pattern.exec(page)?.[1])

  before(async () => {
    page = await read('docs/deployment.md')
    config = parseConfig({ chain: { rpcUrls: ['http://127.0.0.1:8545'] } }, 'defaults', root)
  })

  it('limits bodies in the proxy as the server does, and waits longer than the server', () => {
    expect(figure(/client_max_body_size (\d+)m;/) * 1024 * 1024).to.equal(config.limits.bodyBytes)
    expect(figure(/proxy_read_timeout (\d+)s;/)).to.be.above(config.limits.answerSeconds)
  })

  it('stops the service no sooner than it may end', () => {
    const { drainSeconds, graceSeconds } = config.shutdown
    expect(figure(/TimeoutStopSec=(\d+)/)).to.be.above(drainSeconds + graceSeconds + 2)
    const [, script = ''] = /ExecStart=\S+ (\S+) serve/.exec(page) ?? []
    expect(existsSync(join(root, script)), script).to.equal(true)
  })

  it('starts the service again however long what it needs is away, and writes where it may', () => {
    const unit = /```ini\n([^]*?)```/.exec(page)?.[1] ?? ''
    expect(unit)
      .to.match(/^Restart=on-failure$/m)
      .and.match(/^StartLimitIntervalSec=0$/m)
    const [, state] = /^StateDirectory=(.*)$/m.exec(unit) ?? []
    const [, name = '', folder] = /^Environment=(\w+)=(.*)$/m.exec(unit) ?? []
    const members = environmentMembers({ [name]: folder })
    expect(members).to.deep.include({ name, path: ['database', 'folder'], value: `/var/lib/${state}/database` })
  })
})

describe('docs/kubernetes.yaml', () => {
  interface Manifest {
    readonly apiVersion: string
    readonly kind: string
  }
  let manifests: Manifest[]
  let config: Config
  let deployment: IDeployment
  const find = <Kind>(kind: string) => manifests.find((one) => one.kind === kind) as Kind | undefined

  before(async () => {
    manifests = parseAllDocuments(await read('docs/kubernetes.yaml')).map((document) => document.toJS() as Manifest)
    const written = find<IConfigMap>('ConfigMap')?.data?.['relay.yaml'] ?? ''
    config = parseConfig(parse(written), 'relay.yaml', root)
    deployment = find<IDeployment>('Deployment') as IDeployment
  })

  it('is what the schemas of Kubernetes take, in every document', () => {
    const models = { ConfigMap, Deployment, Service, PodDisruptionBudget } as const
    expect(manifests.map(({ kind }) => kind)).to.have.members(Object.keys(models))
    for (const manifest of manifests) {
      const model = new models[manifest.kind as keyof typeof models](manifest as object)
      expect(model).to.include({ apiVersion: manifest.apiVersion })
      expect(() => model.validate(), manifest.kind).not.to.throw()
    }
  })

  it('runs the image of this version, and holds no secret', async () => {
    const [container] = deployment.spec?.template?.spec?.containers ?? []
    const { version } = JSON.parse(await read('package.json')) as { version: string }
    expect(container?.image).to.equal(`touchstone:${version}`)
    for (const { name, value, valueFrom } of container?.env ?? []) {
      expect({ value, from: valueFrom?.secretKeyRef?.key }, name).to.deep.equal({ value: undefined, from: name })
    }
    const { readinessProbe, livenessProbe } = container ?? {}
    expect([livenessProbe?.httpGet?.path, readinessProbe?.httpGet?.path]).to.deep.equal(['/healthz', '/readyz'])
  })

  it('starts beside what Kubernetes says of its Service in the environment', () => {
    const { metadata, spec } = find<IService>('Service') ?? {}
    const service = metadata?.name?.toUpperCase()
    const [{ name = '', port = 0 } = {}] = spec?.ports ?? []
    const environment = {
      [`${service}_SERVICE_HOST`]: '10.96.0.7',
      [`${service}_SERVICE_PORT`]: `${port}`,
      [`${service}_SERVICE_PORT_${name.toUpperCase()}`]: `${port}`,
      [`${service}_PORT`]: `tcp://10.96.0.7:${port}`,
      [`${service}_PORT_${port}_TCP`]: `tcp://10.96.0.7:${port}`,
      [`${service}_PORT_${port}_TCP_PROTO`]: 'tcp',
      [`${service}_PORT_${port}_TCP_PORT`]: `${port}`,
      [`${service}_PORT_${port}_TCP_ADDR`]: '10.96.0.7',
      TOUCHSTONE_LISTEN_PORT: '3000',
    }
    expect(environmentMembers(environment).map((member) => member.name)).to.deep.equal(['TOUCHSTONE_LISTEN_PORT'])
  })

  it('stops a process when nobody sends it anything any more, and no sooner than it may end', () => {
    const { drainSeconds, graceSeconds } = config.shutdown
    const { terminationGracePeriodSeconds, containers } = deployment.spec?.template?.spec ?? {}
    expect(terminationGracePeriodSeconds).to.be.above(drainSeconds + graceSeconds + 2)
    const { periodSeconds = 0, failureThreshold = 0, timeoutSeconds = 0 } = containers?.[0]?.readinessProbe ?? {}
    expect(drainSeconds).to.be.least(periodSeconds * failureThreshold + timeoutSeconds)
  })
})
