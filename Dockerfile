# The command in a container; Java comes from PyPI with the rest, Kafka is fetched where no sink URI names one:
#   docker build -t ticdc-producer .
#   docker run --rm --network host ticdc-producer run seed_t1 --sink-uri 'kafka://localhost:9092/seed_t1'
FROM python:3.12-slim
COPY . /src
RUN pip install --no-cache-dir -c /src/constraints.txt "/src[report,state]" && rm -r /src && useradd --create-home runner
USER runner
WORKDIR /home/runner
ENTRYPOINT ["ticdc-producer"]
