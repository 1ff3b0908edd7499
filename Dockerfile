# The command in a container. Java is a PyPI dependency; Kafka is downloaded if the sink URI names no host:
#   docker build -t ticdc-producer .
#   docker run --rm --network host ticdc-producer run seed_t1 --sink-uri 'kafka://localhost:9092/seed_t1'
FROM python:3.12-slim
COPY . /src
RUN pip install --no-cache-dir -c /src/constraints.txt "/src[spark,state]" && rm -r /src && useradd --create-home runner
USER runner
WORKDIR /home/runner
ENTRYPOINT ["ticdc-producer"]
